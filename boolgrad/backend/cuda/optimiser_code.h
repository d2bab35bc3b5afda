// What the optimiser's kernels read. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace boolgrad::cuda {

/// What one step does to gradients and parameters, beside a clip by norm.
struct UpdateFactors {
  float beta1, beta2, rest1, rest2, scale, rate, keep, epsilon;  ///< as in `cpu::adamw`
  float clip_value;                                              ///< 0: not clipped
  double noise;                                                  ///< 0: none
  std::uint64_t seed;
  std::uint32_t step;
};

struct UpdateCode {
  std::size_t count;
  float* parameters;
  float* first;
  float* second;
  const float* gradients;
  const float* loss;  ///< may be null
  UpdateFactors factors;
  double clip_norm;   ///< 0: not clipped
  double* part_sums;  ///< [parts], or null where every block looks at all gradients itself
  int parts;
  int* finite;
};

cudaError_t launch_update(const UpdateCode& code, cudaStream_t stream);

/// Parts that gradients are looked at in; 0 where they are so few that blocks do it themselves.
int update_parts(std::size_t count);

}  // namespace boolgrad::cuda
