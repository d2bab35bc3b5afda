#include "boolgrad/backend/devices.h"

#include <fmt/format.h>

#include <charconv>

#include "boolgrad/backend/cpu/row_kernels.h"
#include "boolgrad/backend/cuda/device.h"
#include "boolgrad/backend/vulkan/device.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad {

std::optional<DeviceName> parse_device(std::string_view name) {
  if (name == "cpu" || name == "cuda" || name == "vulkan") return DeviceName{std::string(name)};
  constexpr std::string_view numbered = "vulkan:";
  if (!name.starts_with(numbered)) return std::nullopt;
  const std::string_view digits = name.substr(numbered.size());
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end() || number < 0) return std::nullopt;
  return DeviceName{"vulkan", number};
}

DeviceName parse_other_device(const std::string& device) {
  const std::optional<DeviceName> name = parse_device(device);
  if (!name || name->backend == "cpu") {
    fail("device", "expected cuda, vulkan or vulkan:N, received {}", device);
  }
  return *name;
}

std::string why_unavailable(const std::string& device) {
  const std::optional<DeviceName> name = parse_device(device);
  if (!name) fail("device", "expected cpu, cuda, vulkan or vulkan:N, received {}", device);
  if (name->backend == "cuda") return cuda::unavailable();
  if (name->backend == "vulkan") return vulkan::unavailable(name->number);
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

DeviceDescription cuda_description() {
  DeviceDescription found;
  found.device = "cuda";
  found.kind = "NVIDIA GPU";
  found.why_not = cuda::unavailable();
  if (!found.why_not.empty()) return found;
  found.name = cuda::device_description();
  found.driver = "CUDA";
  found.runs = trained_on_gpus;
  return found;
}

}  // namespace

std::vector<DeviceDescription> all_devices() {
  std::vector<DeviceDescription> all = {cpu_description(), cuda_description()};
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
