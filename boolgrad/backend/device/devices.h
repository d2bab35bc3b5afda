// Available devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/options/device.h"

namespace boolgrad {

/// Throws if `device` is the CPU.
void expect_gpu(const Device& device);

/// The reason why a device cannot be used; empty if it can.
std::string why_unavailable(const Device& device);

/// The description of a device.
struct DeviceDescription {
  Backend backend = Backend::cpu;
  std::string device;        ///< device name, as in `vulkan:0`
  std::string name;          ///< product name from the driver; empty if there is no device
  std::string kind;          ///< type of device, as in `NVIDIA GPU`
  std::uint64_t memory = 0;  ///< in bytes; 0 if unknown
  std::string driver;        ///< name of the driver
  std::string runs;          ///< summary of its capabilities
  std::string why_not;       ///< why it cannot be used; empty if it can
};

/// All devices, the CPU first. A backend without devices has one entry that gives the reason.
std::vector<DeviceDescription> all_devices();

}  // namespace boolgrad
