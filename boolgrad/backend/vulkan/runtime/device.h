// Queries about Vulkan devices.
//
// No Vulkan header is included here, so that other modules compile without Vulkan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/backend/device/capabilities.h"

namespace boolgrad::vulkan {

struct DeviceInfo {
  std::string name;
  std::string kind;          ///< `discrete GPU`, `integrated GPU`, `CPU`, ...
  std::uint64_t memory = 0;  ///< device memory in bytes
  std::string driver;
  std::string why_not;  ///< why it cannot be used; empty if it can
};

/// All devices: discrete GPUs first, then integrated ones, then all others, CPUs last. The index is
/// the N of `vulkan:N`. Empty without a loader or driver.
std::vector<DeviceInfo> devices();

/// Empty if device `number` can be used; else the reason why not.
std::string unavailable(int number = 0);

/// `NVIDIA H200, discrete GPU, 150 GB, driver NVIDIA 550.54`.
std::string device_description(int number = 0);

/// What this backend supports, even if it was not built or there is no device.
inline Capabilities capabilities() {
  return cpu_capabilities() &
         ~boolgrad::capabilities(Feature::float64, Feature::network_gate_penalty);
}

}  // namespace boolgrad::vulkan
