// Whether there is an NVIDIA GPU to compute on.
//
// No header of the vendor is included here, so that rooms above need not know whether the backend
// was built.
#pragma once

#include <string>

namespace boolgrad::cuda {

/// Devices that the driver shows; 0 where there is no driver.
int device_count();

/// Empty where device `index` is there and can be used; else why not.
std::string unavailable(int index = 0);

/// Makes `index` the device of all that this thread does from here on.
void select_device(int index);

/// `NVIDIA H200, compute capability 9.0, 139 GB`.
std::string device_description(int index = 0);

}  // namespace boolgrad::cuda
