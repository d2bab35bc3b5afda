// A device by name: where something is computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace boolgrad {

enum class Backend : std::uint8_t { cpu, cuda, vulkan };

std::string_view to_string(Backend backend);

/// `cpu`, `cuda`, `cuda:1`, `vulkan`, `vulkan:1`: a backend, and which of its devices.
struct Device {
  Backend backend = Backend::cpu;
  int index = 0;

  constexpr bool is_cpu() const { return backend == Backend::cpu; }
  friend constexpr bool operator==(const Device&, const Device&) = default;
};

/// The name that `parse_device` reads; the first device of a backend is called by the backend
/// alone.
std::string to_string(const Device& device);

/// The names that a device can have, for messages.
inline constexpr std::string_view device_names = "cpu, cuda, cuda:N, vulkan or vulkan:N";

/// The device of that name, or nothing where no device can have it.
std::optional<Device> parse_device(std::string_view name);

}  // namespace boolgrad
