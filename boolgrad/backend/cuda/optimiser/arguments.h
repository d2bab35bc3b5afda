// What the optimiser's kernels read. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/options/adamw.h"

namespace boolgrad::cuda {

/// What one step does to gradients and parameters, other than clipping by norm.
struct UpdateArguments {
  AdamWFactors<float> adamw;
  float clip_value;  ///< 0: not clipped
  double noise;      ///< 0: none
  std::uint64_t seed;
  std::uint32_t step;
};

struct OptimiserArguments {
  std::size_t count;
  float* parameters;
  float* first;
  float* second;
  const float* gradients;
  const float* loss;  ///< may be null
  UpdateArguments factors;
  double clip_norm;   ///< 0: not clipped
  double* part_sums;  ///< [parts], or null where every block looks at all gradients itself
  int parts;
  int* finite;
};

cudaError_t launch_update(const OptimiserArguments& arguments, cudaStream_t stream);

/// Parts that gradients are looked at in; 0 where they are so few that blocks do it themselves.
int update_parts(std::size_t count);

}  // namespace boolgrad::cuda
