// What hardening draws, at the addresses of `logic/hardening.h`. Inside of `cuda/`.
#pragma once

#include "boolgrad/backend/cuda/common/random.cuh"
#include "boolgrad/backend/options/hardening.h"

namespace boolgrad::cuda {

__device__ __forceinline__ double hardening_uniform(const HardeningStep& step,
                                                    std::uint64_t index) {
  return static_cast<double>(random_bits(step.seed, step.stream, step.step, index).uniform_53()) *
         0x1.0p-53;
}

/// Of `gates`: whether the gate that is drawn at `index` is hard.
__device__ __forceinline__ bool draws_hard_gate(const HardeningStep& step, std::uint64_t index) {
  return hardening_uniform(step, index) < step.share;
}

/// -log(-log u), of which a difference of two is logistic.
__device__ __forceinline__ double gumbel(const HardeningStep& step, std::uint64_t index) {
  const double u = fmax(hardening_uniform(step, index), 0x1.0p-54);
  return -log(-log(u));
}

/// Of `noise`: what is added to value `logit` of the layer that draws from `first` on. A softmax
/// takes one draw per value; an entry of a table, the difference of two.
///
/// Not inlined: a gate of six inputs would have it 64 times.
static __device__ __noinline__ float logit_noise(const HardeningStep& step, std::uint64_t first,
                                                 std::uint64_t logit, bool one_draw) {
  const double drawn = one_draw
                           ? gumbel(step, first + logit)
                           : gumbel(step, first + 2 * logit) - gumbel(step, first + 2 * logit + 1);
  return static_cast<float>(step.noise * drawn);
}

}  // namespace boolgrad::cuda
