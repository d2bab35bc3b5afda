// Access to rows of samples, and arithmetic on four samples at a time. Internal to `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "boolgrad/backend/cuda/network/arguments.h"

namespace boolgrad::cuda {

/// The threads of a block of `kThreads` that share a row: `kLanes`, with four samples each.
template <int kLanes, int kThreads = 256>
struct Group {
  static constexpr int per_block = kThreads / kLanes;
  int number;       ///< index in the block
  unsigned vector;  ///< the thread's vector of a row
  __device__ Group()
      : number(threadIdx.x / kLanes),
        vector(blockIdx.y * (chunk_samples / 4) + threadIdx.x % kLanes) {}
  __device__ bool has_vector(RowShape rows) const {
    return vector < static_cast<unsigned>(rows.vectors);
  }
  /// The i-th position that the group processes, if a block takes `kCount` per group.
  template <int kCount>
  __device__ int position_of(int i) const {
    return (blockIdx.x * kCount + i) * per_block + number;
  }
};

__device__ __forceinline__ unsigned vector_index(int feature, RowShape rows, unsigned vector) {
  return static_cast<unsigned>(feature) * (static_cast<unsigned>(rows.stride) / 4) + vector;
}

__device__ __forceinline__ float4 load(const float* x, int feature, RowShape rows,
                                       unsigned vector) {
  return reinterpret_cast<const float4*>(x)[vector_index(feature, rows, vector)];
}

__device__ __forceinline__ void store(float* x, int feature, RowShape rows, unsigned vector,
                                      float4 value) {
  reinterpret_cast<float4*>(x)[vector_index(feature, rows, vector)] = value;
}

template <class F>
__device__ __forceinline__ float4 each(float4 a, float4 b, F f) {
  return make_float4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));
}

__device__ __forceinline__ float4 soft_gates(float4 c, float4 a, float4 b) {
  return each(a, b,
              [c](float x, float y) { return fmaf(fmaf(c.w, y, c.y), x, fmaf(c.z, y, c.x)); });
}

/// Sums of four values over the lanes that share a row. In each exchange a lane hands over half of
/// its remaining values, so that 32 lanes need 6 exchanges instead of 20. Afterwards `which` is the
/// index of the sum that a lane holds; `kLanes` / 4 lanes hold the same one.
template <int kLanes>
__device__ __forceinline__ float sum_over_lanes(float4 value, int lane, int& which) {
  static_assert(kLanes >= 4);
  const bool upper = (lane & (kLanes / 2)) != 0;
  const bool odd = (lane & (kLanes / 4)) != 0;
  which = (upper ? 2 : 0) + (odd ? 1 : 0);
  const unsigned all = 0xffffffffU;
  float low = upper ? value.z : value.x;
  float high = upper ? value.w : value.y;
  low += __shfl_xor_sync(all, upper ? value.x : value.z, kLanes / 2);
  high += __shfl_xor_sync(all, upper ? value.y : value.w, kLanes / 2);
  float sum = odd ? high : low;
  sum += __shfl_xor_sync(all, odd ? low : high, kLanes / 4);
#pragma unroll
  for (int step = kLanes / 8; step > 0; step /= 2) sum += __shfl_xor_sync(all, sum, step);
  return sum;
}

/// Above this, the gradients of logits, sums of at most four of these, could overflow.
constexpr float largest_sum = 1e37F;

struct PairSums {
  float4 total;  ///< over a thread's samples, of g, g a, g b and g a b
  __device__ __forceinline__ PairSums(float4 g, float4 a, float4 b) {
    const float4 ga = each(g, a, [](float p, float q) { return p * q; });
    total.x = (g.x + g.y) + (g.z + g.w);
    total.y = (ga.x + ga.y) + (ga.z + ga.w);
    total.z = fmaf(g.x, b.x, g.y * b.y) + fmaf(g.z, b.z, g.w * b.w);
    total.w = fmaf(ga.x, b.x, ga.y * b.y) + fmaf(ga.z, b.z, ga.w * b.w);
  }
};

/// Calls `f` with the number of lanes per row as a compile-time constant.
template <class F>
cudaError_t with_lanes(RowShape rows, F f) {
  if (rows.vectors <= 4) return f(std::integral_constant<int, 4>{});
  if (rows.vectors <= 8) return f(std::integral_constant<int, 8>{});
  if (rows.vectors <= 16) return f(std::integral_constant<int, 16>{});
  return f(std::integral_constant<int, 32>{});
}

inline dim3 grid(int count, int per_block, RowShape rows) {
  return {static_cast<unsigned>((count + per_block - 1) / per_block),
          static_cast<unsigned>(rows.chunks)};
}

}  // namespace boolgrad::cuda
