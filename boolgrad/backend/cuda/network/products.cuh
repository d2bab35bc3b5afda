// Products of matrices of float32, for layers in which every input is a candidate. Internal to
// `cuda/`.
//
// A block computes 128 x 128 elements of the result, each thread 8 x 8 of them. The sums run over
// the inner dimension in order, so that results do not depend on the launch.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {

constexpr int product_threads = 256;
constexpr int product_tile = 128;
constexpr int product_depth = 8;

/// c[m, n] = a b. Rows of a, b and c are `a_row`, `b_row` and `c_row` elements apart.
struct ProductArguments {
  int m, n, k;
  const float* a;
  const float* b;
  float* c;
  int a_row, b_row, c_row;
};

/// Copies a tile of an operand into shared memory, [depth][128]. If `kDeepRows`, the inner
/// dimension runs along the rows of the operand.
template <bool kDeepRows>
__device__ __forceinline__ void load_tile(const float* from, int row, int first, int count,
                                          int depth, int end_depth,
                                          float (&tile)[product_depth][product_tile]) {
#pragma unroll
  for (int i = 0; i < product_depth * product_tile / product_threads; ++i) {
    const int at = i * product_threads + threadIdx.x;
    const int d = kDeepRows ? at % product_depth : at / product_tile;
    const int o = kDeepRows ? at / product_depth : at % product_tile;
    const bool is_inside = depth + d < end_depth && first + o < count;
    const std::size_t address = kDeepRows ? static_cast<std::size_t>(first + o) * row + (depth + d)
                                          : static_cast<std::size_t>(depth + d) * row + (first + o);
    tile[d][o] = is_inside ? from[address] : 0;
  }
}

/// `kDeepA`: a is stored [m, k]; else [k, m]. `kDeepB`: b is stored [n, k]; else [k, n].
template <bool kDeepA, bool kDeepB>
__global__ void __launch_bounds__(product_threads) product(const ProductArguments p) {
  __shared__ float a_tile[2][product_depth][product_tile];
  __shared__ float b_tile[2][product_depth][product_tile];
  const int first_row = blockIdx.y * product_tile;
  const int first_column = blockIdx.x * product_tile;
  const int row = threadIdx.x / 16 * 4;
  const int column = threadIdx.x % 16 * 4;
  float sum[8][8] = {};
  allow_next_launch();
  wait_for_previous();
  load_tile<kDeepA>(p.a, p.a_row, first_row, p.m, 0, p.k, a_tile[0]);
  load_tile<kDeepB>(p.b, p.b_row, first_column, p.n, 0, p.k, b_tile[0]);
  __syncthreads();
  int now = 0;
  for (int depth = 0; depth < p.k; depth += product_depth) {
    if (depth + product_depth < p.k) {
      load_tile<kDeepA>(p.a, p.a_row, first_row, p.m, depth + product_depth, p.k, a_tile[now ^ 1]);
      load_tile<kDeepB>(p.b, p.b_row, first_column, p.n, depth + product_depth, p.k,
                        b_tile[now ^ 1]);
    }
#pragma unroll
    for (int d = 0; d < product_depth; ++d) {
      float a[8], b[8];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<float4*>(a + 4 * half) =
            *reinterpret_cast<const float4*>(&a_tile[now][d][row + 64 * half]);
        *reinterpret_cast<float4*>(b + 4 * half) =
            *reinterpret_cast<const float4*>(&b_tile[now][d][column + 64 * half]);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
    __syncthreads();
    now ^= 1;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int r = first_row + row + i % 4 + 64 * (i / 4);
    if (r >= p.m) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int c = first_column + column + j % 4 + 64 * (j / 4);
      if (c < p.n) p.c[static_cast<std::size_t>(r) * p.c_row + c] = sum[i][j];
    }
  }
}

template <bool kDeepA, bool kDeepB>
cudaError_t launch_product(const ProductArguments& p, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((p.n + product_tile - 1) / product_tile),
                    static_cast<unsigned>((p.m + product_tile - 1) / product_tile));
  return launch(product<kDeepA, kDeepB>, blocks, product_threads, 0, stream, p);
}

}  // namespace boolgrad::cuda
