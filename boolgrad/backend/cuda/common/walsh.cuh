// Sums of Walsh coefficients, in the order of logic/parametrisation.cpp. Internal to `cuda/`.
#pragma once

namespace boolgrad::cuda {

/// Coefficients to entry logits: z(0) = w - v and z(1) = w + v, where v is the coefficient of the
/// sets that contain the input.
__device__ __forceinline__ void walsh_sums(float* w, int entries) {
#pragma unroll
  for (int bit = 1; bit < entries; bit *= 2) {
#pragma unroll
    for (int e = 0; e < entries; ++e) {
      if ((e & bit) != 0) continue;
      const float low = w[e];
      w[e] = low - w[e + bit];
      w[e + bit] = low + w[e + bit];
    }
  }
}

/// Gradients of entry logits to gradients of coefficients.
__device__ __forceinline__ void walsh_sums_back(float* g, int entries) {
#pragma unroll
  for (int bit = 1; bit < entries; bit *= 2) {
#pragma unroll
    for (int e = 0; e < entries; ++e) {
      if ((e & bit) != 0) continue;
      const float low = g[e];
      g[e] = low + g[e + bit];
      g[e + bit] = g[e + bit] - low;
    }
  }
}

}  // namespace boolgrad::cuda
