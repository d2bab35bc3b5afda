#include "boolgrad/backend/cuda/device.h"

#include <fmt/format.h>

#include "boolgrad/backend/cuda/check.h"

namespace boolgrad::cuda {

std::string unavailable() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) return "no NVIDIA driver, or one that is too old";
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count == 0 ? "no device" : "";
}

std::string device_description() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "describe the device");
  return fmt::format("{}, compute capability {}.{}, {:.0f} GB", properties.name, properties.major,
                     properties.minor, static_cast<double>(properties.totalGlobalMem) / 1e9);
}

}  // namespace boolgrad::cuda
