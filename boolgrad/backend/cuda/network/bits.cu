// The hardened circuit on packed bits, 32 samples per word.
#include "boolgrad/backend/cuda/common/walsh.cuh"
#include "boolgrad/backend/cuda/network/arguments.h"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int max_inputs = 6;  // inputs of a gate

/// Entry e of gate i of the sixteen, i = 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
__device__ __forceinline__ std::uint64_t table_of_gate(int i) {
  return static_cast<std::uint64_t>(((i >> 3) & 1) | (((i >> 1) & 1) << 1) | (((i >> 2) & 1) << 2) |
                                    ((i & 1) << 3));
}

/// The index of the largest logit, the first in a tie.
__device__ __forceinline__ int likeliest(const float* logits) {
  int best = 0;
  for (int i = 1; i < 16; ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  return best;
}

__global__ void harden_gates(const GateUpdate update, std::uint64_t* tables) {
  const std::size_t gate = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  if (gate >= update.tables) return;
  std::uint64_t table = 0;
  if (update.parametrisation == Parametrisation::softmax16) {
    table = table_of_gate(likeliest(update.logits + update.first_logit + gate * 16));
  } else {
    const int entries = 1 << update.arity;
    float z[1 << max_inputs];
    for (int e = 0; e < entries; ++e) z[e] = update.logits[update.first_logit + gate * entries + e];
    if (update.parametrisation == Parametrisation::walsh) walsh_sums(z, entries);
    for (int e = 0; e < entries; ++e) table |= static_cast<std::uint64_t>(z[e] > 0) << e;
  }
  tables[update.first_table + gate] = update.masks[update.first_table + gate] < 0.5F ? 0 : table;
}

/// The word of an input. Outside of the image, it is 0.
__device__ __forceinline__ std::uint32_t input_word(const NetworkLayer& layer, int source,
                                                    const std::uint32_t* x, std::size_t words,
                                                    std::size_t word) {
  const bool is_inside = static_cast<unsigned>(source) < static_cast<unsigned>(layer.source_count);
  return is_inside ? x[source * words + word] : 0;
}

/// Each input halves the table: the upper half if it is 1, else the lower.
template <int kArity>
__global__ void hard_gates(const NetworkLayer layer, const std::uint64_t* tables,
                           const std::uint32_t* x, std::size_t words, std::uint32_t* y) {
  const std::size_t word = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  if (word >= words * layer.gates) return;
  const std::size_t gate = word / words;
  const std::uint64_t table = tables[layer.first_table + gate / layer.positions];
  const int* sources = layer.sources + gate * kArity;
  std::uint32_t value[1 << kArity];
#pragma unroll
  for (int e = 0; e < (1 << kArity); ++e) value[e] = ((table >> e) & 1) != 0 ? ~0U : 0U;
#pragma unroll
  for (int slot = kArity - 1; slot >= 0; --slot) {
    const std::uint32_t input = input_word(layer, sources[slot], x, words, word % words);
#pragma unroll
    for (int e = 0; e < (1 << (kArity - 1)); ++e) {
      if (e < (1 << slot)) value[e] ^= (value[e] ^ value[e + (1 << slot)]) & input;
    }
  }
  y[word] = value[0];
}

/// Gates that are the OR of their inputs.
__global__ void hard_pools(const NetworkLayer layer, const std::uint32_t* x, std::size_t words,
                           std::uint32_t* y) {
  const std::size_t word = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  if (word >= words * layer.gates) return;
  const int* sources = layer.sources + word / words * layer.arity;
  std::uint32_t value = 0;
  for (int slot = 0; slot < layer.arity; ++slot) {
    value |= input_word(layer, sources[slot], x, words, word % words);
  }
  y[word] = value;
}

/// Packs rows of floats into bits: 1 if above one half. One sample per lane, one word per warp.
__global__ void pack_rows(const float* x, int features, std::size_t samples, std::size_t stride,
                          std::uint32_t* bits, std::size_t words) {
  const std::size_t filled = (samples + 31) / 32;
  const std::size_t index = (blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x) / 32;
  if (index >= filled * features) return;
  const std::size_t row = index / filled;
  const std::size_t sample = index % filled * 32 + threadIdx.x % 32;
  const bool on = sample < samples && x[row * stride + sample] > 0.5F;
  const std::uint32_t all = __ballot_sync(0xffffffffU, on);
  if (threadIdx.x % 32 == 0) bits[row * words + index % filled] = all;
}

/// One block per word of 32 samples; warps take one group at a time, lanes one sample each.
template <bool kWeighs>
__global__ void count_in_groups(const std::uint32_t* bits, const float* weights, std::size_t words,
                                int per_group, int groups, int* counts) {
  const int lane = threadIdx.x % 32;
  const std::size_t word = blockIdx.x;
  for (int group = threadIdx.x / 32; group < groups; group += threads / 32) {
    int count = 0;
#pragma unroll 8
    for (int o = group * per_group; o < (group + 1) * per_group; ++o) {
      const int one = (bits[static_cast<std::size_t>(o) * words + word] >> lane) & 1;
      count += kWeighs ? one * static_cast<int>(weights[o]) : one;
    }
    counts[(group * words + word) * 32 + lane] = count;
  }
}

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace

cudaError_t harden(const GateUpdate& update, std::uint64_t* tables, cudaStream_t stream) {
  harden_gates<<<blocks_for(update.tables), threads, 0, stream>>>(update, tables);
  return cudaGetLastError();
}

cudaError_t hard_layer(const NetworkLayer& layer, const std::uint64_t* tables,
                       const std::uint32_t* x, std::size_t words, std::uint32_t* y,
                       cudaStream_t stream) {
  const unsigned blocks = blocks_for(words * static_cast<std::size_t>(layer.gates));
  if (layer.pools) {
    hard_pools<<<blocks, threads, 0, stream>>>(layer, x, words, y);
    return cudaGetLastError();
  }
  switch (layer.arity) {
    case 1: hard_gates<1><<<blocks, threads, 0, stream>>>(layer, tables, x, words, y); break;
    case 2: hard_gates<2><<<blocks, threads, 0, stream>>>(layer, tables, x, words, y); break;
    case 3: hard_gates<3><<<blocks, threads, 0, stream>>>(layer, tables, x, words, y); break;
    case 4: hard_gates<4><<<blocks, threads, 0, stream>>>(layer, tables, x, words, y); break;
    case 5: hard_gates<5><<<blocks, threads, 0, stream>>>(layer, tables, x, words, y); break;
    default: hard_gates<6><<<blocks, threads, 0, stream>>>(layer, tables, x, words, y); break;
  }
  return cudaGetLastError();
}

cudaError_t pack_bits(const float* x, int features, std::size_t samples, std::size_t stride,
                      std::uint32_t* bits, std::size_t words, cudaStream_t stream) {
  const std::size_t lanes = (samples + 31) / 32 * static_cast<std::size_t>(features) * 32;
  pack_rows<<<blocks_for(lanes), threads, 0, stream>>>(x, features, samples, stride, bits, words);
  return cudaGetLastError();
}

cudaError_t count_ones(const std::uint32_t* bits, const float* weights, int features, int groups,
                       std::size_t words, int* counts, cudaStream_t stream) {
  const auto kernel = weights != nullptr ? count_in_groups<true> : count_in_groups<false>;
  kernel<<<static_cast<unsigned>(words), threads, 0, stream>>>(bits, weights, words,
                                                               features / groups, groups, counts);
  return cudaGetLastError();
}

}  // namespace boolgrad::cuda
