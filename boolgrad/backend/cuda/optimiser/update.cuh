// The update of one parameter. Internal to `cuda/`.
//
// Every operation is rounded separately, as on the CPU, so that the same gradients give the same
// bits.
#pragma once

#include "boolgrad/backend/cuda/common/random.cuh"
#include "boolgrad/backend/cuda/optimiser/arguments.h"

namespace boolgrad::cuda {

/// The stream of optim/gradients.cpp.
constexpr std::uint32_t gradient_noise_stream = 0x01000000;

__device__ __forceinline__ bool is_finite(float value) {
  return (__float_as_uint(value) & 0x7f800000U) != 0x7f800000U;
}

__device__ __forceinline__ float clipped(const UpdateArguments& factors, float gradient) {
  if (factors.clip_value <= 0) return gradient;
  return fminf(fmaxf(gradient, -factors.clip_value), factors.clip_value);
}

/// Adds noise. Exact zeros stay zero.
__device__ __forceinline__ float noisy(const UpdateArguments& factors, float gradient,
                                       std::uint64_t index) {
  if (factors.noise == 0 || gradient == 0) return gradient;
  const RandomBits bits = random_bits(factors.seed, gradient_noise_stream, factors.step, index);
  return __fadd_rn(gradient, static_cast<float>(factors.noise * normal(bits)));
}

__device__ __forceinline__ void adamw(const AdamWFactors<float>& f, float& p, float& m, float& v,
                                      float g) {
  m = __fadd_rn(__fmul_rn(f.beta1, m), __fmul_rn(f.rest1, g));
  v = __fadd_rn(__fmul_rn(f.beta2, v), __fmul_rn(f.rest2, __fmul_rn(g, g)));
  const float spread = __fadd_rn(__fsqrt_rn(__fmul_rn(v, f.scale)), f.epsilon);
  p = __fsub_rn(__fmul_rn(p, f.keep), __fdiv_rn(__fmul_rn(f.rate, m), spread));
}

}  // namespace boolgrad::cuda
