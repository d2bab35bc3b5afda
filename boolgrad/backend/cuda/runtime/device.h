// Queries about NVIDIA GPUs.
//
// No vendor header is included here, so that other modules compile without CUDA.
#pragma once

#include <string>

#include "boolgrad/backend/device/capabilities.h"

namespace boolgrad::cuda {

/// Number of devices that the driver reports; 0 without a driver.
int device_count();

/// Empty if device `index` can be used; else the reason why not.
std::string unavailable(int index = 0);

/// Makes `index` the current device of this thread.
void select_device(int index);

/// What this backend supports, even if it was not built or there is no device.
inline Capabilities capabilities() {
  return cpu_capabilities() &
         ~boolgrad::capabilities(Feature::float64, Feature::network_gate_penalty);
}

/// `select_device` for use in member initialisers. Returns `index`.
inline int selected(int index) {
  select_device(index);
  return index;
}

/// `NVIDIA H200, compute capability 9.0, 139 GB`.
std::string device_description(int index = 0);

}  // namespace boolgrad::cuda
