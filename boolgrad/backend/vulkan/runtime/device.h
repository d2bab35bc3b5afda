// Which devices can be computed on through Vulkan.
//
// No header of Vulkan is included here, so that modules above need not know whether the backend was
// built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/backend/device/capabilities.h"

namespace boolgrad::vulkan {

struct DeviceInfo {
  std::string name;
  std::string kind;          ///< `discrete GPU`, `integrated GPU`, `CPU`, ...
  std::uint64_t memory = 0;  ///< of the device, in bytes
  std::string driver;
  std::string why_not;  ///< why it cannot be used; empty where it can
};

/// All devices: discrete GPUs first, then integrated ones, then all others, CPUs last. Their place
/// here is their number in `vulkan:N`. Empty where there is no loader or no driver.
std::vector<DeviceInfo> devices();

/// Empty where device `number` can be used; else why not.
std::string unavailable(int number = 0);

/// `NVIDIA H200, discrete GPU, 150 GB, driver NVIDIA 550.54`.
std::string device_description(int number = 0);

/// What this backend supports, whether or not it was built and there is a device.
inline Capabilities capabilities() {
  return Capabilities().set().reset(static_cast<std::size_t>(Feature::float64));
}

}  // namespace boolgrad::vulkan
