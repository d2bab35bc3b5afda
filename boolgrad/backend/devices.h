// The devices that are there, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boolgrad {

/// `cpu`, `cuda`, `vulkan`, or `vulkan:1` where Vulkan shows several devices.
struct DeviceName {
  std::string backend;
  int number = 0;
};

/// Nothing where no device can have that name.
std::optional<DeviceName> parse_device(std::string_view name);

/// The device of that name, which is not the CPU; refuses all others.
DeviceName parse_other_device(const std::string& device);

/// Empty where the device is there and can be used; else why not. Refuses what is no name.
std::string why_unavailable(const std::string& device);

/// What is known of a device.
struct DeviceDescription {
  std::string device;  ///< what it is called by, `vulkan:0` for one
  std::string name;    ///< as its driver has it; empty where there is none
  std::string kind;
  std::uint64_t memory = 0;  ///< in bytes; 0 where it is not known
  std::string driver;
  std::string runs;     ///< what runs on it
  std::string why_not;  ///< why nothing does, if so
};

/// All devices, the CPU first. A backend that shows none has one entry that says why.
std::vector<DeviceDescription> all_devices();

}  // namespace boolgrad
