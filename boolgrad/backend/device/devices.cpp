#include "boolgrad/backend/device/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "boolgrad/backend/cpu/tensor/row_kernels.h"
#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/vulkan/runtime/device.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad {

void expect_gpu(const Device& device) {
  if (device.is_cpu()) fail("device", "expected cuda or vulkan, received cpu");
}

std::string why_unavailable(const Device& device) {
  switch (device.backend) {
    case Backend::cpu: return "";
    case Backend::cuda: return cuda::unavailable(device.index);
    case Backend::vulkan: return vulkan::unavailable(device.index);
  }
  return "";
}

namespace {

constexpr const char* trained_on_gpus =
    "training and evaluation of circuits, classifiers and automata";

DeviceDescription cpu_description() {
  DeviceDescription cpu;
  cpu.device = "cpu";
  cpu.name = fmt::format("{}, {} threads", cpu::instruction_set(), thread_count());
  cpu.kind = "CPU";
  cpu.runs = "everything";
  return cpu;
}

DeviceDescription cuda_description(int index) {
  DeviceDescription found;
  found.device = to_string(Device{Backend::cuda, index});
  found.kind = "NVIDIA GPU";
  found.why_not = cuda::unavailable(index);
  if (!found.why_not.empty()) return found;
  found.name = cuda::device_description(index);
  found.driver = "CUDA";
  found.runs = trained_on_gpus;
  return found;
}

}  // namespace

std::vector<DeviceDescription> all_devices() {
  std::vector<DeviceDescription> all = {cpu_description()};
  for (int index = 0; index < std::max(1, cuda::device_count()); ++index) {
    all.push_back(cuda_description(index));
  }
  int number = 0;
  for (const vulkan::DeviceInfo& info : vulkan::devices()) {
    DeviceDescription found;
    found.device = fmt::format("vulkan:{}", number++);
    found.name = info.name;
    found.kind = info.kind;
    found.memory = info.memory;
    found.driver = info.driver;
    found.why_not = info.why_not;
    if (found.why_not.empty()) found.runs = trained_on_gpus;
    all.push_back(found);
  }
  if (number > 0) return all;
  DeviceDescription none;
  none.device = "vulkan";
  none.kind = "GPU";
  none.why_not = vulkan::unavailable();
  all.push_back(none);
  return all;
}

}  // namespace boolgrad
