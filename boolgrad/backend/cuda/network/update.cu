// From logits to tables and, with the sums of a step, back to logits.
//
// Logits and moments dominate the memory traffic of a wide network. They are read and written once:
// the launch that updates a gate's logits also computes its new polynomial for the next forward
// pass.
#include <type_traits>

#include "boolgrad/backend/cuda/common/hardening.cuh"
#include "boolgrad/backend/cuda/common/walsh.cuh"
#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/cuda/optimiser/update.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int quad = 4;  // threads per gate with sixteen logits

enum class Output { coefficients, gradients, update };

/// Block 0 adds up the loss and reports the outcome of the step to the host.
__device__ void report_step(const GateUpdate& update) {
  __shared__ double sums[threads];
  double sum = 0;
  for (int part = threadIdx.x; part < update.loss_count; part += threads)
    sum += update.losses[part];
  sums[threadIdx.x] = sum;
  for (int step = threads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  if (threadIdx.x != 0) return;
  *update.loss = static_cast<float>(sums[0]);
  update.result->loss = sums[0];
  update.result->finite = *update.not_finite != update.state->stamp ? 1 : 0;
}

/// Applies clipping and AdamW. Noise requires the separate optimiser launch.
__device__ __forceinline__ void update_one(const UpdateArguments& factors, float gradient, float& p,
                                           float& m, float& v) {
  adamw(factors.adamw, p, m, v, clipped(factors, gradient));
}

/// Hardness of the tables that a launch leaves.
template <Output kOutput>
__device__ __forceinline__ float share_for_coefficients(const GateUpdate& update) {
  return kOutput == Output::coefficients ? update.hard_share : update.state->hard_share;
}

__device__ __forceinline__ float harder(float soft, float hard, float share) {
  return soft + (hard - soft) * share;
}

/// The step's hardening of one gate, if a separate launch computes the tables.
struct HardenedGate {
  HardeningStep step;
  std::uint64_t
      first_address;   ///< address of its random numbers: layer * 2^32 + index in the layer
  std::uint64_t gate;  ///< index in its layer
  bool is_hard;        ///< uses its hard table
  bool is_frozen;      ///< receives no gradient

  __device__ HardenedGate(const GateUpdate& update, std::size_t of_all)
      : step(update.state->hardening) {
    int layer = 0;
    while (layer + 1 < update.layers && of_all >= update.first_tables[layer + 1]) ++layer;
    gate = of_all - update.first_tables[layer];
    first_address = static_cast<std::uint64_t>(layer) << 32;
    is_frozen = step.kind == HardeningKind::freeze && update.frozen[of_all] != 0;
    is_hard = is_frozen ||
              (step.kind == HardeningKind::gates && is_sampled_hard(step, first_address + gate));
  }

  /// Logit `i` of `count` as used in this step.
  __device__ __forceinline__ float logit(float z, int i, int count, bool one_draw) const {
    if (step.kind == HardeningKind::temperature) return z * static_cast<float>(step.logit_scale);
    if (step.kind != HardeningKind::noise) return z;
    return z + logit_noise(step, first_address, gate * count + i, one_draw);
  }

  /// Factor on the gradients of logits.
  __device__ __forceinline__ float slope() const {
    return step.kind == HardeningKind::temperature ? static_cast<float>(step.logit_scale) : 1.0F;
  }
};

__device__ __forceinline__ float4 scaled(float4 v, float factor) {
  return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}

// ---------------------------------------------------------------------------------------------
// Sixteen logits: four threads per gate, four logits each. Bits 3 and 2 of a gate's index are the
// index of its thread, and the gate's outputs at (0, 0) and (0, 1). Bits 1 and 0 are its outputs at
// (1, 0) and (1, 1).

__device__ __forceinline__ float sum_of_quad(float value) {
  value += __shfl_xor_sync(0xffffffffU, value, 1);
  return value + __shfl_xor_sync(0xffffffffU, value, 2);
}

struct Probabilities {
  float4 p;  ///< probabilities of the thread's own four gates

  __device__ __forceinline__ explicit Probabilities(float4 logits) {
    float largest = fmaxf(fmaxf(logits.x, logits.y), fmaxf(logits.z, logits.w));
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 1));
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 2));
    p = make_float4(expf(logits.x - largest), expf(logits.y - largest), expf(logits.z - largest),
                    expf(logits.w - largest));
    const float inverse = 1 / sum_of_quad((p.x + p.y) + (p.z + p.w));
    p = make_float4(p.x * inverse, p.y * inverse, p.z * inverse, p.w * inverse);
  }

  /// The table by entry: bit j of an entry's index is input j.
  __device__ __forceinline__ float4 table(int part) const {
    const float all = (p.x + p.y) + (p.z + p.w);
    return make_float4(sum_of_quad((part & 2) != 0 ? all : 0), sum_of_quad(p.z + p.w),
                       sum_of_quad((part & 1) != 0 ? all : 0), sum_of_quad(p.y + p.w));
  }
};

/// c0 + c1 a + c2 b + c3 ab
__device__ __forceinline__ float4 polynomial_of(float4 t) {
  return make_float4(t.x, t.y - t.x, t.z - t.x, (t.w - t.z) - (t.y - t.x));
}

__device__ __forceinline__ float4 table_gradient(float4 s) {
  const float with_b = s.z - s.w;
  const float with_a = s.y - s.w;
  return make_float4((s.x - s.y) - with_b, with_a, with_b, s.w);
}

/// dz = p (dp - sum p dp), where dp_i is the sum of `g` over the entries that are 1 in gate i.
__device__ __forceinline__ float4 logit_gradient(const Probabilities& probabilities, float4 g,
                                                 int part) {
  const float base = ((part & 2) != 0 ? g.x : 0) + ((part & 1) != 0 ? g.z : 0);
  const float4 d = make_float4(base, base + g.w, base + g.y, (base + g.y) + g.w);
  const float4 p = probabilities.p;
  const float dot = sum_of_quad(fmaf(p.x, d.x, p.y * d.y) + fmaf(p.z, d.z, p.w * d.w));
  return make_float4(p.x * (d.x - dot), p.y * (d.y - dot), p.z * (d.z - dot), p.w * (d.w - dot));
}

/// The index of the largest of a gate's sixteen logits, the first in a tie.
__device__ __forceinline__ int likeliest_of_quad(float4 z, int part) {
  const float own[4] = {z.x, z.y, z.z, z.w};
  float best = own[0];
  int at = part * 4;
#pragma unroll
  for (int i = 1; i < 4; ++i) {
    if (own[i] > best) {
      best = own[i];
      at = part * 4 + i;
    }
  }
#pragma unroll
  for (int step = 1; step < quad; step *= 2) {
    const float other = __shfl_xor_sync(0xffffffffU, best, step);
    const int index = __shfl_xor_sync(0xffffffffU, at, step);
    if (other > best || (other == best && index < at)) {
      best = other;
      at = index;
    }
  }
  return at;
}

/// By entry, as in `Probabilities::table`.
__device__ __forceinline__ float4 table_of(int gate) {
  return make_float4((gate >> 3) & 1, (gate >> 1) & 1, (gate >> 2) & 1, gate & 1);
}

__device__ __forceinline__ float4 harder(float4 soft, float4 hard, float share) {
  return make_float4(harder(soft.x, hard.x, share), harder(soft.y, hard.y, share),
                     harder(soft.z, hard.z, share), harder(soft.w, hard.w, share));
}

/// The logits of a thread as used in this step.
__device__ __forceinline__ float4 hardened_logits(const HardenedGate& gate, float4 z, int part) {
  const auto at = [&](float value, int i) { return gate.logit(value, part * 4 + i, 16, true); };
  return make_float4(at(z.x, 0), at(z.y, 1), at(z.z, 2), at(z.w, 3));
}

template <Output kOutput, bool kHardens>
__global__ void __launch_bounds__(threads) pass_softmax16(const GateUpdate update) {
  allow_next_launch();
  wait_for_previous();
  if (kOutput != Output::coefficients && blockIdx.x == 0) report_step(update);
  if (kOutput == Output::update && *update.not_finite == update.state->stamp) return;
  const std::size_t index = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  const int part = threadIdx.x % quad;
  const bool is_live = index / quad < update.tables;
  // All threads of a warp must take part in the exchange of sums.
  const std::size_t own = update.first_table * quad + (is_live ? index : part);
  const std::size_t gate = own / quad;
  auto* logits = reinterpret_cast<float4*>(update.logits);
  float4 z = logits[own];
  const float mask = update.masks[gate];
  if constexpr (kOutput != Output::coefficients) {
    float4 s = reinterpret_cast<const float4*>(update.sums)[gate];
    for (int chunk = 1; chunk < update.chunks; ++chunk) {
      const float4 more =
          reinterpret_cast<const float4*>(update.sums + chunk * update.entries)[gate];
      s = make_float4(s.x + more.x, s.y + more.y, s.z + more.z, s.w + more.w);
    }
    float4 g = table_gradient(s);
    const float factor = mask * update.factor;
    if constexpr (kHardens) {
      const HardenedGate hardened(update, gate);
      g = scaled(g, hardened.is_frozen ? 0.0F : factor);
      g = logit_gradient(Probabilities(hardened_logits(hardened, z, part)), g, part);
      g = scaled(g, hardened.slope());
    } else {
      g = scaled(g, factor);
      g = logit_gradient(Probabilities(z), g, part);
    }
    if (kOutput == Output::gradients) {
      if (is_live) reinterpret_cast<float4*>(update.gradients)[own] = g;
      return;
    }
    float4 m = reinterpret_cast<float4*>(update.first)[own];
    float4 v = reinterpret_cast<float4*>(update.second)[own];
    const UpdateArguments factors = update.state->factors;
    update_one(factors, g.x, z.x, m.x, v.x);
    update_one(factors, g.y, z.y, m.y, v.y);
    update_one(factors, g.z, z.z, m.z, v.z);
    update_one(factors, g.w, z.w, m.w, v.w);
    if (is_live) {
      logits[own] = z;
      reinterpret_cast<float4*>(update.first)[own] = m;
      reinterpret_cast<float4*>(update.second)[own] = v;
    }
  }
  float4 t;
  if constexpr (kHardens && kOutput == Output::coefficients) {
    const HardenedGate hardened(update, gate);
    t = Probabilities(hardened_logits(hardened, z, part)).table(part);
    const float4 hard = table_of(likeliest_of_quad(z, part));
    if (hardened.is_hard) t = hard;
  } else {
    t = Probabilities(z).table(part);
    const float share = share_for_coefficients<kOutput>(update);
    if (share > 0) t = harder(t, table_of(likeliest_of_quad(z, part)), share);
  }
  if (is_live && part == 0) {
    reinterpret_cast<float4*>(update.coefficients)[gate] =
        polynomial_of(make_float4(t.x * mask, t.y * mask, t.z * mask, t.w * mask));
  }
}

// ---------------------------------------------------------------------------------------------
// One logit or Walsh coefficient per entry: one thread per gate.

__device__ __forceinline__ float logistic(float z) { return 1 / (1 + expf(-z)); }

template <int kBit, int kEntries>
__device__ __forceinline__ void to_polynomial(float* t) {
  if constexpr (kBit < kEntries) {
#pragma unroll
    for (int e = 0; e < kEntries; ++e) {
      if ((e & kBit) != 0) t[e] -= t[e - kBit];
    }
    to_polynomial<kBit * 2, kEntries>(t);
  }
}

template <int kBit, int kEntries>
__device__ __forceinline__ void to_table_gradient(float* s) {
  if constexpr (kBit < kEntries) {
#pragma unroll
    for (int e = 0; e < kEntries; ++e) {
      if ((e & kBit) != 0) s[e - kBit] -= s[e];
    }
    to_table_gradient<kBit * 2, kEntries>(s);
  }
}

template <int kArity, bool kWalsh, Output kOutput, bool kHardens>
__global__ void __launch_bounds__(threads) pass_sigmoid(const GateUpdate update) {
  constexpr int entries = 1 << kArity;
  allow_next_launch();
  wait_for_previous();
  if (kOutput != Output::coefficients && blockIdx.x == 0) report_step(update);
  if (kOutput == Output::update && *update.not_finite == update.state->stamp) return;
  const std::size_t gate = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  if (gate >= update.tables) return;
  const float mask = update.masks[update.first_table + gate];
  const std::size_t first_logit = update.first_logit + gate * entries;
  const std::size_t first_entry = update.first_entry + gate * entries;
  float z[entries];
#pragma unroll
  for (int e = 0; e < entries; ++e) z[e] = update.logits[first_logit + e];
  if constexpr (kWalsh) walsh_sums(z, entries);
  if constexpr (kOutput != Output::coefficients) {
    float g[entries];
#pragma unroll
    for (int e = 0; e < entries; ++e) g[e] = update.sums[first_entry + e];
    for (int chunk = 1; chunk < update.chunks; ++chunk) {
#pragma unroll
      for (int e = 0; e < entries; ++e)
        g[e] += update.sums[chunk * update.entries + first_entry + e];
    }
    to_table_gradient<1, entries>(g);
    float factor = mask * update.factor;
    if constexpr (kHardens) {
      const HardenedGate hardened(update, update.first_table + gate);
      factor = hardened.is_frozen ? 0.0F : factor * hardened.slope();
#pragma unroll
      for (int e = 0; e < entries; ++e) z[e] = hardened.logit(z[e], e, entries, false);
    }
#pragma unroll
    for (int e = 0; e < entries; ++e) {
      const float t = logistic(z[e]);
      g[e] = g[e] * factor * (t * (1 - t));
    }
    if constexpr (kWalsh) walsh_sums_back(g, entries);
    const UpdateArguments factors = update.state->factors;
#pragma unroll
    for (int e = 0; e < entries; ++e) {
      const std::size_t at = first_logit + e;
      if constexpr (kOutput == Output::gradients) {
        update.gradients[at] = g[e];
      } else {
        z[e] = update.logits[at];
        update_one(factors, g[e], z[e], update.first[at], update.second[at]);
        update.logits[at] = z[e];
      }
    }
    if constexpr (kWalsh && kOutput == Output::update) walsh_sums(z, entries);
  }
  if constexpr (kOutput != Output::gradients) {
    if constexpr (kHardens && kOutput == Output::coefficients) {
      const HardenedGate hardened(update, update.first_table + gate);
#pragma unroll
      for (int e = 0; e < entries; ++e) {
        const float hard = z[e] > 0 ? 1.0F : 0.0F;
        const float soft = logistic(hardened.logit(z[e], e, entries, false));
        z[e] = (hardened.is_hard ? hard : soft) * mask;
      }
    } else {
      const float share = share_for_coefficients<kOutput>(update);
#pragma unroll
      for (int e = 0; e < entries; ++e) {
        const float t = logistic(z[e]);
        z[e] = (share > 0 ? harder(t, z[e] > 0 ? 1.0F : 0.0F, share) : t) * mask;
      }
    }
    to_polynomial<1, entries>(z);
#pragma unroll
    for (int e = 0; e < entries; ++e) update.coefficients[first_entry + e] = z[e];
  }
}

// ---------------------------------------------------------------------------------------------
// Parameters whose gradients are known: one thread per parameter, or several parameters in turn.

__global__ void __launch_bounds__(threads) update_flat(const ParameterUpdate arguments) {
  allow_next_launch();
  wait_for_previous();
  if (*arguments.not_finite == arguments.state->stamp) return;
  const UpdateArguments factors = arguments.state->factors;
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(threads);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
       i < arguments.count; i += stride) {
    float p = arguments.values[i];
    float m = arguments.first[i];
    float v = arguments.second[i];
    adamw(factors.adamw, p, m, v, clipped(factors, arguments.gradients[i]));
    arguments.values[i] = p;
    arguments.first[i] = m;
    arguments.second[i] = v;
  }
}

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

template <bool kWalsh, Output kOutput, bool kHardens>
cudaError_t pass_of_entries(const GateUpdate& update, cudaStream_t stream) {
  const auto pass_with = [&](void (*kernel)(GateUpdate)) {
    return launch(kernel, blocks_for(update.tables), threads, 0, stream, update);
  };
  switch (update.arity) {
    case 1: return pass_with(pass_sigmoid<1, kWalsh, kOutput, kHardens>);
    case 2: return pass_with(pass_sigmoid<2, kWalsh, kOutput, kHardens>);
    case 3: return pass_with(pass_sigmoid<3, kWalsh, kOutput, kHardens>);
    case 4: return pass_with(pass_sigmoid<4, kWalsh, kOutput, kHardens>);
    case 5: return pass_with(pass_sigmoid<5, kWalsh, kOutput, kHardens>);
    default: return pass_with(pass_sigmoid<6, kWalsh, kOutput, kHardens>);
  }
}

template <Output kOutput, bool kHardens>
cudaError_t pass_of(const GateUpdate& update, cudaStream_t stream) {
  switch (update.parametrisation) {
    case Parametrisation::softmax16:
      return launch(pass_softmax16<kOutput, kHardens>, blocks_for(update.tables * quad), threads, 0,
                    stream, update);
    case Parametrisation::walsh: return pass_of_entries<true, kOutput, kHardens>(update, stream);
    default: return pass_of_entries<false, kOutput, kHardens>(update, stream);
  }
}

template <Output kOutput>
cudaError_t pass(const GateUpdate& update, cudaStream_t stream) {
  return update.hardens ? pass_of<kOutput, true>(update, stream)
                        : pass_of<kOutput, false>(update, stream);
}

}  // namespace

cudaError_t make_coefficients(const GateUpdate& update, cudaStream_t stream) {
  return pass<Output::coefficients>(update, stream);
}

cudaError_t update_gates(const GateUpdate& update, cudaStream_t stream) {
  return update.gradients != nullptr ? pass<Output::gradients>(update, stream)
                                     : pass<Output::update>(update, stream);
}

cudaError_t update_parameters(const ParameterUpdate& arguments, cudaStream_t stream) {
  constexpr std::size_t max_blocks = 2112;
  const std::size_t needed = (arguments.count + threads - 1) / threads;
  const auto blocks = static_cast<unsigned>(needed < max_blocks ? needed : max_blocks);
  return launch(update_flat, blocks, threads, 0, stream, arguments);
}

}  // namespace boolgrad::cuda
