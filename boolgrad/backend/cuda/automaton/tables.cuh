// From logits to the coefficients of an automaton's gates, and from sums to gradients. Inside of
// `cuda/`.
#pragma once

#include "boolgrad/backend/cuda/automaton/block.cuh"
#include "boolgrad/backend/cuda/common/gates.cuh"
#include "boolgrad/backend/cuda/common/random.cuh"
#include "boolgrad/backend/cuda/optimiser/update.cuh"

namespace boolgrad::cuda::automata {

struct Drawn {
  std::uint32_t origin;
  float share;  ///< how hard the gate is
};

/// What belongs to the gate at a position.
__device__ __forceinline__ Drawn drawn_gate(const Code& code, int position) {
  Drawn drawn{code.origin[position], 0};
  const Draws& draws = code.draws;
  if (draws.hard == HardeningKind::blend || draws.hard == HardeningKind::straight_through) drawn.share = static_cast<float>(draws.share);
  if (draws.hard == HardeningKind::gates) {
    const std::uint32_t gate = drawn.origin & ~swapped_inputs;
    const std::uint32_t layer = code.layer_of[gate];
    const RandomBits bits =
        random_bits(draws.seed, draws.hard_stream, draws.draw,
                    (std::uint64_t{layer & 0xFF} << 32) + (gate - (layer >> 8)));
    const double uniform = static_cast<double>(bits.uniform_53()) * 0x1.0p-53;
    drawn.share = uniform < draws.share ? 1 : 0;
  }
  return drawn;
}

__device__ __forceinline__ Table table_of(const Code& code, std::uint32_t gate) {
  return code.softmax ? softmax_table(code.logits + std::size_t{gate} * 16)
                      : sigmoid_table(code.logits + std::size_t{gate} * 4);
}

__device__ __forceinline__ void make_coefficients(const Code& code, Four<float>* to) {
  for (int i = blockIdx.x * threads() + threadIdx.x; i < code.gates; i += gridDim.x * threads()) {
    const Drawn drawn = drawn_gate(code, i);
    const std::uint32_t gate = drawn.origin & ~swapped_inputs;
    const Table table = table_of(code, gate);
    const float mask = code.masks[gate];
    float f[4];
    for (int e = 0; e < 4; ++e) {
      const float soft = table.soft[e] * mask;
      const float hard = mask < 0.5F ? 0 : (table.hard >> e) & 1;
      f[e] = soft + (hard - soft) * drawn.share;
    }
    const bool swapped = (drawn.origin & swapped_inputs) != 0;
    const float first = f[1] - f[0];
    const float second = f[2] - f[0];
    to[i] = {f[0], swapped ? second : first, swapped ? first : second, f[3] - f[1] - f[2] + f[0]};
  }
}

__device__ __forceinline__ void make_coefficients(const Code& code, Four<unsigned>* to) {
  for (int i = blockIdx.x * threads() + threadIdx.x; i < code.gates; i += gridDim.x * threads()) {
    const std::uint32_t origin = code.origin[i];
    const std::uint32_t gate = origin & ~swapped_inputs;
    const unsigned table = code.masks[gate] < 0.5F ? 0 : table_of(code, gate).hard;
    const auto all = [&](int e) { return (table >> e & 1) != 0 ? ~0U : 0U; };
    const bool swapped = (origin & swapped_inputs) != 0;
    const unsigned first = all(1) ^ all(0);
    const unsigned second = all(2) ^ all(0);
    to[i] = {all(0), swapped ? second : first, swapped ? first : second,
             all(3) ^ all(2) ^ all(1) ^ all(0)};
  }
}

/// Sums of all blocks, in a fixed tree, to gradients of the logits: a warp a gate.
__device__ __forceinline__ void make_logit_gradients(const Code& code) {
  const int lane = threadIdx.x & 31;
  for (int i = blockIdx.x * warps() + threadIdx.x / 32; i < code.gates; i += gridDim.x * warps()) {
    float4 g = make_float4(0, 0, 0, 0);
    for (int block = lane; block < gridDim.x; block += 32) {
      const float4 part = __ldcg(code.block_sums + std::size_t(block) * code.gates + i);
      g = make_float4(g.x + part.x, g.y + part.y, g.z + part.z, g.w + part.w);
    }
    g = summed_over_warp(g);
    const std::uint32_t origin = code.origin[i];
    const std::uint32_t gate = origin & ~swapped_inputs;
    if ((origin & swapped_inputs) != 0) {
      const float first = g.y;
      g.y = g.z;
      g.z = first;
    }
    const float mask = code.masks[gate];
    const float slopes[4] = {mask * (g.x - g.y - g.z + g.w), mask * (g.y - g.w), mask * (g.z - g.w),
                             mask * g.w};
    const Table table = table_of(code, gate);
    const int logits = code.softmax ? 16 : 4;
    if (lane < logits) {
      const float gradient =
          code.softmax ? softmax_gradient(code.logits + std::size_t{gate} * 16, table, slopes, lane)
                       : sigmoid_gradient(table, slopes, lane);
      code.logit_gradients[std::size_t{gate} * logits + lane] = gradient;
      if (!is_finite(gradient)) *code.broken = code.launch;  // whoever says so, says the same
    }
  }
}

}  // namespace boolgrad::cuda::automata
