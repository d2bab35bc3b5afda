// The error of every function in `no_cuda/`. Internal to it.
#pragma once

#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::cuda {

[[noreturn]] inline void refuse() { fail("cuda", "no CUDA device available: {}", unavailable()); }

}  // namespace boolgrad::cuda
