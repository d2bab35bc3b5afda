#include "boolgrad/options/device.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace boolgrad {

std::string_view to_string(Backend backend) {
  switch (backend) {
    case Backend::cpu: return "cpu";
    case Backend::cuda: return "cuda";
    case Backend::vulkan: return "vulkan";
  }
  return "unknown";
}

std::string to_string(const Device& device) {
  const std::string name(to_string(device.backend));
  return device.index == 0 ? name : fmt::format("{}:{}", name, device.index);
}

std::optional<Device> parse_device(std::string_view name) {
  const std::size_t colon = name.find(':');
  for (const Backend backend : std::array{Backend::cpu, Backend::cuda, Backend::vulkan}) {
    if (name.substr(0, colon) != to_string(backend)) continue;
    if (colon == std::string_view::npos) return Device{backend};
    if (backend == Backend::cpu) return std::nullopt;
    const std::string_view digits = name.substr(colon + 1);
    int index = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
    if (error != std::errc() || end != digits.end() || index < 0) return std::nullopt;
    return Device{backend, index};
  }
  return std::nullopt;
}

}  // namespace boolgrad
