#include "boolgrad/backend/device/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "boolgrad/backend/cpu/tensor/row_kernels.h"
#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/device/capabilities.h"
#include "boolgrad/backend/vulkan/runtime/device.h"
#include "boolgrad/core/fail.h"
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

/// The capabilities of a backend in one line.
std::string runs_on(Backend backend) {
  std::vector<std::string_view> missing;
  for (const FeatureText& text : feature_texts()) {
    if (!supports(backend, text.feature)) missing.push_back(text.name);
  }
  return missing.empty() ? "everything"
                         : fmt::format("everything except {}", fmt::join(missing, ", "));
}

DeviceDescription cpu_description() {
  DeviceDescription cpu;
  cpu.device = "cpu";
  cpu.name = fmt::format("{}, {} threads", cpu::instruction_set(), thread_count());
  cpu.kind = "CPU";
  cpu.runs = runs_on(cpu.backend);
  return cpu;
}

DeviceDescription cuda_description(int index) {
  DeviceDescription found;
  found.backend = Backend::cuda;
  found.device = to_string(Device{Backend::cuda, index});
  found.kind = "NVIDIA GPU";
  found.why_not = cuda::unavailable(index);
  if (!found.why_not.empty()) return found;
  found.name = cuda::device_description(index);
  found.driver = "CUDA";
  found.runs = runs_on(found.backend);
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
    found.backend = Backend::vulkan;
    found.device = fmt::format("vulkan:{}", number++);
    found.name = info.name;
    found.kind = info.kind;
    found.memory = info.memory;
    found.driver = info.driver;
    found.why_not = info.why_not;
    if (found.why_not.empty()) found.runs = runs_on(found.backend);
    all.push_back(found);
  }
  if (number > 0) return all;
  DeviceDescription none;
  none.backend = Backend::vulkan;
  none.device = "vulkan";
  none.kind = "GPU";
  none.why_not = vulkan::unavailable();
  all.push_back(none);
  return all;
}

}  // namespace boolgrad
