// Compute devices and their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace boolgrad {

/// A compute backend.
enum class Backend : std::uint8_t { cpu, cuda, vulkan };

/// The name of a backend.
std::string_view to_string(Backend backend);

/// A backend and the index of a device: `cpu`, `cuda`, `cuda:1`, `vulkan`, `vulkan:1`.
struct Device {
  Backend backend = Backend::cpu;  ///< the backend
  int index = 0;                   ///< which of its devices

  /// Whether this is the CPU.
  constexpr bool is_cpu() const { return backend == Backend::cpu; }
  /// Whether two devices are the same.
  friend constexpr bool operator==(const Device&, const Device&) = default;
};

/// The name of a device, as `parse_device` accepts it. Device 0 has the name of its backend.
std::string to_string(const Device& device);

/// The valid device names, for messages.
inline constexpr std::string_view device_names = "cpu, cuda, cuda:N, vulkan or vulkan:N";

/// Parses a device name. Empty if the name is not valid.
std::optional<Device> parse_device(std::string_view name);

}  // namespace boolgrad
