// Whether there is an NVIDIA GPU to compute on.
//
// No header of the vendor is included here, so that rooms above need not know whether the backend
// was built.
#pragma once

#include <string>

namespace boolgrad::cuda {

/// Empty where a device is there and can be used; else why not.
std::string unavailable();

/// `NVIDIA H200, compute capability 9.0, 139 GB`.
std::string device_description();

}  // namespace boolgrad::cuda
