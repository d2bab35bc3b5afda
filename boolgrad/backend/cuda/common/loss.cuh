// Losses of one output and their derivatives, with the conventions of `ops/loss.h`.
#pragma once

#include "boolgrad/options/loss.h"

namespace boolgrad::cuda {

constexpr float least_probability = 1e-7F;
constexpr float max_probability = 1 - 1e-7F;

/// NaN stays NaN.
__device__ __forceinline__ float clipped_probability(float p) {
  return p == p ? fminf(fmaxf(p, least_probability), max_probability) : p;
}

__device__ __forceinline__ float loss_value(LossKind kind, float gamma, float y, float target) {
  const float off = y - target;
  if (kind == LossKind::squares) return off * off;
  if (kind == LossKind::l4) return off * off * (off * off);
  const float p = clipped_probability(y);
  const float q = clipped_probability(1 - y);
  const float log_p = logf(p);
  const float log_q = logf(q);
  if (kind == LossKind::bce) return -(target * log_p + (1 - target) * log_q);
  return -(target * expf(gamma * log_q) * log_p + (1 - target) * expf(gamma * log_p) * log_q);
}

__device__ __forceinline__ float loss_slope(LossKind kind, float gamma, float y, float target) {
  const float off = y - target;
  if (kind == LossKind::squares) return 2 * off;
  if (kind == LossKind::l4) return 4 * off * (off * off);
  if (!(y >= least_probability && y <= max_probability)) return 0;
  const float p = clipped_probability(y);
  const float q = clipped_probability(1 - y);
  if (kind == LossKind::bce) return (p - target) / (p * q);
  const float log_p = logf(p);
  const float log_q = logf(q);
  const float for_one = expf(gamma * log_q) * (gamma * log_p / q - 1 / p);
  const float for_zero = expf(gamma * log_p) * (1 / q - gamma * log_q / p);
  return target * for_one + (1 - target) * for_zero;
}

}  // namespace boolgrad::cuda
