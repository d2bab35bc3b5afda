// Arguments of the optimiser's kernels. Internal to `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/options/adamw.h"

namespace boolgrad::cuda {

/// What one step does to gradients and parameters, except for clipping by norm.
struct UpdateArguments {
  AdamWFactors<float> adamw;
  float clip_value;  ///< 0: no clipping
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
  double clip_norm;   ///< 0: no clipping
  double* part_sums;  ///< [parts], or null if every block reads all gradients
  int parts;
  int* finite;
};

cudaError_t launch_update(const OptimiserArguments& arguments, cudaStream_t stream);

/// Number of partial sums over the gradients; 0 if there are so few gradients that every block
/// reads all of them.
int update_parts(std::size_t count);

}  // namespace boolgrad::cuda
