// Every call of the CUDA runtime goes through here. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include "boolgrad/backend/cuda/runtime/memory.h"
#include "boolgrad/core/error.h"

namespace boolgrad::cuda {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    fail("cuda", "expected to {}, received {}", what, cudaGetErrorString(error));
  }
}

}  // namespace boolgrad::cuda
