#include "boolgrad/backend/cuda/runtime/machine_rates_arguments.h"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 512;
constexpr int blocks = 132 * 4;

__global__ void __launch_bounds__(threads)
    copy_all(const float4* from, float4* to, std::size_t count) {
  constexpr std::size_t stride = static_cast<std::size_t>(threads) * blocks;
#pragma unroll 4
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x; i < count;
       i += stride) {
    to[i] = from[i];
  }
}

/// Reads everything `rounds` times, bypassing the L1 cache.
__global__ void __launch_bounds__(threads)
    read_all(const float4* from, float4* to, std::size_t count, int rounds) {
  constexpr std::size_t stride = static_cast<std::size_t>(threads) * blocks;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll 4
    for (std::size_t i = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x; i < count;
         i += stride) {
      const float4 value = __ldcg(from + i);
      sum = make_float4(sum.x + value.x, sum.y + value.y, sum.z + value.z, sum.w + value.w);
    }
  }
  to[blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x] = sum;
}

}  // namespace

std::size_t read_results() { return static_cast<std::size_t>(threads) * blocks; }

cudaError_t launch_copy(const float4* from, float4* to, std::size_t count) {
  copy_all<<<blocks, threads>>>(from, to, count);
  return cudaGetLastError();
}

cudaError_t launch_reads(const float4* from, float4* to, std::size_t count, int rounds) {
  read_all<<<blocks, threads>>>(from, to, count, rounds);
  return cudaGetLastError();
}

}  // namespace boolgrad::cuda
