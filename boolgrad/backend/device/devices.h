// The devices that are there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/backend/device/device.h"

namespace boolgrad {

/// Refuses the CPU, for what only other devices are asked for.
void expect_gpu(const Device& device);

/// Empty where the device is there and can be used; else why not.
std::string why_unavailable(const Device& device);

/// What is known of a device.
struct DeviceDescription {
  Backend backend = Backend::cpu;
  std::string device;  ///< what it is called by, `vulkan:0` for one
  std::string name;    ///< as its driver has it; empty where there is none
  std::string kind;
  std::uint64_t memory = 0;  ///< in bytes; 0 where it is not known
  std::string driver;
  std::string runs;     ///< what runs on it, from the capability table
  std::string why_not;  ///< why nothing does, if so
};

/// All devices, the CPU first. A backend that shows none has one entry that says why.
std::vector<DeviceDescription> all_devices();

}  // namespace boolgrad
