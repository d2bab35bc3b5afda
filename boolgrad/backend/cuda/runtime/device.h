// Whether there is an NVIDIA GPU to compute on.
//
// No vendor header is included here, so that other modules need not know whether the backend was
// built.
#pragma once

#include <string>

#include "boolgrad/backend/device/capabilities.h"

namespace boolgrad::cuda {

/// Devices that the driver shows; 0 where there is no driver.
int device_count();

/// Empty where device `index` is there and can be used; else why not.
std::string unavailable(int index = 0);

/// Makes `index` the device of all that this thread does from here on.
void select_device(int index);

/// What this backend supports, whether or not it was built and there is a device.
inline Capabilities capabilities() {
  return Capabilities().set().reset(static_cast<std::size_t>(Feature::float64));
}

/// `select_device` as a member of an object is made: the device that the object belongs to.
inline int selected(int index) {
  select_device(index);
  return index;
}

/// `NVIDIA H200, compute capability 9.0, 139 GB`.
std::string device_description(int index = 0);

}  // namespace boolgrad::cuda
