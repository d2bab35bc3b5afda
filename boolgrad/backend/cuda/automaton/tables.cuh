// From logits to the coefficients of an automaton's gates, and from sums to gradients. Internal to
// `cuda/`.
#pragma once

#include "boolgrad/backend/cuda/automaton/block.cuh"
#include "boolgrad/backend/cuda/common/gates.cuh"
#include "boolgrad/backend/cuda/common/hardening.cuh"
#include "boolgrad/backend/cuda/common/walsh.cuh"
#include "boolgrad/backend/cuda/optimiser/update.cuh"

namespace boolgrad::cuda::automata {

/// The address at which hardening samples for a gate.
struct GateAddress {
  std::uint64_t first;  ///< first address of its layer
  std::uint64_t gate;   ///< index in its layer
};

__device__ __forceinline__ GateAddress address_of(const KernelArguments& args, std::uint32_t gate) {
  const std::uint32_t layer = args.layer_of[gate];
  return {std::uint64_t{layer & 0xFF} << 32, gate - (layer >> 8)};
}

/// How hard a gate's table is, from 0 to 1.
__device__ __forceinline__ float hard_share(const KernelArguments& args, std::uint32_t gate) {
  const HardeningStep& step = args.draws.hardening;
  if (step.kind == HardeningKind::blend || step.kind == HardeningKind::straight_through) {
    return static_cast<float>(step.share);
  }
  if (step.kind != HardeningKind::gates) return 0;
  const GateAddress at = address_of(args, gate);
  return is_sampled_hard(step, at.first + at.gate) ? 1 : 0;
}

__device__ __forceinline__ bool is_frozen(const KernelArguments& args, std::uint32_t gate) {
  return args.frozen != nullptr && args.frozen[gate] != 0;
}

/// Entry logits of a gate, from its Walsh coefficients.
__device__ __forceinline__ void walsh_logits(const KernelArguments& args, std::uint32_t gate,
                                             float (&z)[4]) {
  for (int e = 0; e < 4; ++e) z[e] = args.logits[std::size_t{gate} * 4 + e];
  walsh_sums(z, 4);
}

/// Logit i of a gate as used in this step.
__device__ __forceinline__ float hardened_logit(const KernelArguments& args, std::uint32_t gate,
                                                float z, int i) {
  const HardeningStep& step = args.draws.hardening;
  if (step.kind == HardeningKind::temperature) return z * static_cast<float>(step.logit_scale);
  if (step.kind != HardeningKind::noise) return z;
  const GateAddress at = address_of(args, gate);
  return z + logit_noise(step, at.first, at.gate * logits_per_gate(args) + i,
                         args.parametrisation == Parametrisation::softmax16);
}

/// Writes the logits that a gate's table is computed from, unless these are the parameters.
__device__ __forceinline__ void make_step_logits(const KernelArguments& args, std::uint32_t gate) {
  if (args.step_logits == nullptr) return;
  const int count = logits_per_gate(args);
  float* to = args.step_logits + std::size_t{gate} * count;
  if (args.parametrisation == Parametrisation::walsh) {
    float z[4];
    walsh_logits(args, gate, z);
    for (int e = 0; e < 4; ++e) to[e] = hardened_logit(args, gate, z[e], e);
    return;
  }
  const float* from = args.logits + std::size_t{gate} * count;
#pragma unroll 1
  for (int i = 0; i < count; ++i) to[i] = hardened_logit(args, gate, from[i], i);
}

__device__ __forceinline__ Table table_of(const KernelArguments& args, const float* logits,
                                          std::uint32_t gate) {
  return args.parametrisation == Parametrisation::softmax16
             ? softmax_table(logits + std::size_t{gate} * 16)
             : sigmoid_table(logits + std::size_t{gate} * 4);
}

/// The table used in this step, before hard tables are mixed in.
__device__ __forceinline__ Table step_table(const KernelArguments& args, std::uint32_t gate) {
  return table_of(args, args.table_logits, gate);
}

/// The table of the model itself, without hardening.
__device__ __forceinline__ Table own_table(const KernelArguments& args, std::uint32_t gate) {
  if (args.parametrisation != Parametrisation::walsh) return table_of(args, args.logits, gate);
  float z[4];
  walsh_logits(args, gate, z);
  return sigmoid_table(z);
}

/// How much a masked table depends on both inputs: a b with a = ((t1 - t0)^2 + (t3 - t2)^2) / 2 and
/// b = ((t2 - t0)^2 + (t3 - t1)^2) / 2; and its derivatives.
struct Dependence {
  float value;
  float slopes[4];

  __device__ __forceinline__ Dependence(const Table& table, float mask) {
    const float low_a = (table.soft[1] - table.soft[0]) * mask;
    const float high_a = (table.soft[3] - table.soft[2]) * mask;
    const float low_b = (table.soft[2] - table.soft[0]) * mask;
    const float high_b = (table.soft[3] - table.soft[1]) * mask;
    const float a = (low_a * low_a + high_a * high_a) / 2;
    const float b = (low_b * low_b + high_b * high_b) / 2;
    value = a * b;
    slopes[0] = -b * low_a - a * low_b;
    slopes[1] = b * low_a - a * high_b;
    slopes[2] = -b * high_a + a * low_b;
    slopes[3] = b * high_a + a * high_b;
  }
};

__device__ __forceinline__ void make_coefficients(const KernelArguments& args, Four<float>* to) {
  for (int i = blockIdx.x * threads() + threadIdx.x; i < args.gates; i += gridDim.x * threads()) {
    const std::uint32_t origin = args.origin[i];
    const std::uint32_t gate = origin & ~swapped_inputs;
    make_step_logits(args, gate);
    const Table table = step_table(args, gate);
    const float share = hard_share(args, gate);
    const bool frozen = is_frozen(args, gate);
    const float mask = args.masks[gate];
    float f[4];
    for (int e = 0; e < 4; ++e) {
      const float soft = table.soft[e] * mask;
      const float hard = mask < 0.5F ? 0 : (table.hard >> e) & 1;
      f[e] = frozen ? hard : soft + (hard - soft) * share;
    }
    const bool swapped = (origin & swapped_inputs) != 0;
    const float first = f[1] - f[0];
    const float second = f[2] - f[0];
    to[i] = {f[0], swapped ? second : first, swapped ? first : second, f[3] - f[1] - f[2] + f[0]};
    if (args.gate_penalty > 0) args.penalties[i] = Dependence(own_table(args, gate), mask).value;
  }
}

__device__ __forceinline__ void make_coefficients(const KernelArguments& args, Four<unsigned>* to) {
  for (int i = blockIdx.x * threads() + threadIdx.x; i < args.gates; i += gridDim.x * threads()) {
    const std::uint32_t origin = args.origin[i];
    const std::uint32_t gate = origin & ~swapped_inputs;
    make_step_logits(args, gate);
    const unsigned table = args.masks[gate] < 0.5F ? 0 : step_table(args, gate).hard;
    const auto all = [&](int e) { return (table >> e & 1) != 0 ? ~0U : 0U; };
    const bool swapped = (origin & swapped_inputs) != 0;
    const unsigned first = all(1) ^ all(0);
    const unsigned second = all(2) ^ all(0);
    to[i] = {all(0), swapped ? second : first, swapped ? first : second,
             all(3) ^ all(2) ^ all(1) ^ all(0)};
  }
}

/// The gradient of logit `i` of a gate, given the gradients of the table's entries.
__device__ __forceinline__ float logit_gradient(const KernelArguments& args, const float* logits,
                                                std::uint32_t gate, const Table& table,
                                                const float (&slopes)[4], int i) {
  if (args.parametrisation == Parametrisation::softmax16) {
    return softmax_gradient(logits + std::size_t{gate} * 16, table, slopes, i);
  }
  if (args.parametrisation == Parametrisation::sigmoid) return sigmoid_gradient(table, slopes, i);
  float g[4];
  for (int e = 0; e < 4; ++e) g[e] = sigmoid_gradient(table, slopes, e);
  walsh_sums_back(g, 4);
  return i == 0 ? g[0] : i == 1 ? g[1] : i == 2 ? g[2] : g[3];
}

/// The penalty's contribution to that gradient: the weight times the derivative for the model's own
/// table, hardened or not.
__device__ __forceinline__ float penalty_gradient(const KernelArguments& args, std::uint32_t gate,
                                                  float mask, int i) {
  const Table table = own_table(args, gate);
  Dependence dependence(table, mask);
  for (float& slope : dependence.slopes) slope *= mask * static_cast<float>(args.gate_penalty);
  return logit_gradient(args, args.logits, gate, table, dependence.slopes, i);
}

/// Reduces the sums of all blocks in a fixed order and computes the gradients of the logits: one
/// warp per gate.
__device__ __forceinline__ void make_logit_gradients(const KernelArguments& args) {
  const int lane = threadIdx.x & 31;
  const int logits = logits_per_gate(args);
  const HardeningStep& hardening = args.draws.hardening;
  for (int i = blockIdx.x * warps() + threadIdx.x / 32; i < args.gates; i += gridDim.x * warps()) {
    float4 g = make_float4(0, 0, 0, 0);
    for (int block = lane; block < gridDim.x; block += 32) {
      const float4 part = __ldcg(args.block_sums + std::size_t(block) * args.gates + i);
      g = make_float4(g.x + part.x, g.y + part.y, g.z + part.z, g.w + part.w);
    }
    g = summed_over_warp(g);
    const std::uint32_t origin = args.origin[i];
    const std::uint32_t gate = origin & ~swapped_inputs;
    if ((origin & swapped_inputs) != 0) {
      const float first = g.y;
      g.y = g.z;
      g.z = first;
    }
    const float mask = args.masks[gate];
    const float slopes[4] = {mask * (g.x - g.y - g.z + g.w), mask * (g.y - g.w), mask * (g.z - g.w),
                             mask * g.w};
    if (lane < logits) {
      const Table table = step_table(args, gate);
      float gradient = logit_gradient(args, args.table_logits, gate, table, slopes, lane);
      if (hardening.kind == HardeningKind::temperature) {
        gradient *= static_cast<float>(hardening.logit_scale);
      }
      // A non-finite gradient must be detected even if the gate is frozen.
      if (is_frozen(args, gate) && is_finite(gradient)) gradient = 0;
      if (args.gate_penalty > 0) gradient += penalty_gradient(args, gate, mask, lane);
      args.logit_gradients[std::size_t{gate} * logits + lane] = gradient;
      if (!is_finite(gradient))
        *args.nonfinite_launch = args.launch;  // all writers store the same value
    }
  }
}

}  // namespace boolgrad::cuda::automata
