// What every part of the stand-in does. Inside of `no_cuda/`.
#pragma once

#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/core/error.h"

namespace boolgrad::cuda {

[[noreturn]] inline void refuse() {
  fail("cuda", "expected a CUDA device, received none: {}", unavailable());
}

}  // namespace boolgrad::cuda
