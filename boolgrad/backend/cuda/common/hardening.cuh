// Random numbers of hardening, at the addresses of `logic/hardening.h`. Internal to `cuda/`.
#pragma once

#include "boolgrad/backend/cuda/common/random.cuh"
#include "boolgrad/options/hardening.h"

namespace boolgrad::cuda {

__device__ __forceinline__ double hardening_uniform(const HardeningStep& step,
                                                    std::uint64_t index) {
  return static_cast<double>(random_bits(step.seed, step.stream, step.step, index).uniform_53()) *
         0x1.0p-53;
}

/// For kind `gates`: whether the gate sampled at `index` is hard.
__device__ __forceinline__ bool is_sampled_hard(const HardeningStep& step, std::uint64_t index) {
  return hardening_uniform(step, index) < step.share;
}

/// -log(-log u). The difference of two such values is logistic.
__device__ __forceinline__ double gumbel(const HardeningStep& step, std::uint64_t index) {
  const double u = fmax(hardening_uniform(step, index), 0x1.0p-54);
  return -log(-log(u));
}

/// For kind `noise`: the noise on value `logit` of the layer whose addresses begin at `first`.
/// Softmax uses one sample per value; a table entry uses the difference of two.
///
/// Not inlined: a gate with six inputs would contain it 64 times.
static __device__ __noinline__ float logit_noise(const HardeningStep& step, std::uint64_t first,
                                                 std::uint64_t logit, bool one_draw) {
  const double drawn = one_draw
                           ? gumbel(step, first + logit)
                           : gumbel(step, first + 2 * logit) - gumbel(step, first + 2 * logit + 1);
  return static_cast<float>(step.noise * drawn);
}

}  // namespace boolgrad::cuda
