// Error checking for CUDA runtime calls. Internal to `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include "boolgrad/backend/cuda/runtime/memory.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::cuda {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    fail("cuda", "cannot {}: {}", what, cudaGetErrorString(error));
  }
}

}  // namespace boolgrad::cuda
