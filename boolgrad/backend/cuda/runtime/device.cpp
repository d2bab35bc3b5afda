#include "boolgrad/backend/cuda/runtime/device.h"

#include <fmt/format.h>

#include "boolgrad/backend/cuda/runtime/check.h"

namespace boolgrad::cuda {

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string unavailable(int index) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) return "no NVIDIA driver, or it is too old";
  if (error != cudaSuccess) return cudaGetErrorString(error);
  if (count == 0) return "no device";
  if (index < count) return "";
  return fmt::format("no device {}: there are {}", index, count);
}

void select_device(int index) { check(cudaSetDevice(index), "select a device"); }

std::string device_description(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "query the device properties");
  return fmt::format("{}, compute capability {}.{}, {:.0f} GB", properties.name, properties.major,
                     properties.minor, static_cast<double>(properties.totalGlobalMem) / 1e9);
}

}  // namespace boolgrad::cuda
