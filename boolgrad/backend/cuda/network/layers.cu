// Layers of soft gates, forward and backward.
//
// A few lanes of a warp (32 for batches of at least 68) share one row, with four samples each.
// Gates and inputs are processed in an order along shared wires (see plan/gate_order.h), so that
// consecutive gates reuse rows from the L1 cache. Otherwise each row would come from the L2 cache
// every time it is read.
#include <type_traits>

#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/cuda/network/rows.cuh"
#include "boolgrad/backend/cuda/optimiser/update.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {

using layout::continues;
using layout::ends;
using layout::first_reads_second;
using layout::second_reads_second;

namespace {

constexpr int threads = 256;

// Gates whose activation rows one thread loads at once, to keep enough loads in flight. The groups
// of a block process neighbours in that order at the same time, and so share their loads.
constexpr int gates_at_once = 4;
constexpr int sums_at_once = 2;
// Inputs that a group processes in sequence, prefetching each entry during the previous one.
constexpr int inputs_in_turn = 4;

__device__ __forceinline__ float4 polynomial_of_pair(const float* coefficients,
                                                     const NetworkLayer& layer, int gate) {
  return reinterpret_cast<const float4*>(coefficients + layer.first_entry)[gate];
}

template <int kLanes>
__global__ void __launch_bounds__(threads)
    forward_pairs(const NetworkLayer layer, const float* coefficients, const float* x,
                  RowShape rows, float* y) {
  const Group<kLanes> group;
  allow_next_launch();
  PairGate gate[gates_at_once];
  float4 a[gates_at_once], b[gates_at_once];
#pragma unroll
  for (int i = 0; i < gates_at_once; ++i) {
    const int position = group.template position_of<gates_at_once>(i);
    gate[i].gate = -1;
    if (position < layer.gates && group.has_vector(rows)) gate[i] = layer.pair_gates[position];
  }
  wait_for_previous();
#pragma unroll
  for (int i = 0; i < gates_at_once; ++i) {
    if (gate[i].gate < 0) continue;
    a[i] = load(x, gate[i].a, rows, group.vector);
    b[i] = load(x, gate[i].b, rows, group.vector);
  }
#pragma unroll
  for (int i = 0; i < gates_at_once; ++i) {
    if (gate[i].gate < 0) continue;
    const float4 c = polynomial_of_pair(coefficients, layer, gate[i].gate);
    store(y, gate[i].row, rows, group.vector, soft_gates(c, a[i], b[i]));
  }
}

/// The gates that block x sums: part x % parts of group x / parts.
struct ScorePart {
  int begin, end;
  __device__ ScorePart(const NetworkLayer& layer, int groups, int parts) {
    const int per_group = layer.gates / groups;
    const int per_part = (per_group + parts - 1) / parts;
    const int first = blockIdx.x / parts * per_group;
    begin = first + blockIdx.x % parts * per_part;
    end = min(first + per_group, begin + per_part);
  }
};

/// Sums outputs instead of storing them. Block x is part x % parts of group x / parts.
template <int kLanes>
__global__ void __launch_bounds__(threads)
    score_pairs(const NetworkLayer layer, const float* coefficients, const float* x, RowShape rows,
                int groups, int parts, float* scores) {
  constexpr int lane_groups = threads / kLanes;
  __shared__ float4 sums[threads];
  const Group<kLanes> at;
  const int group = threadIdx.x / kLanes;
  const ScorePart part(layer, groups, parts);
  const auto add = [](float p, float q) { return p + q; };
  float4 sum = make_float4(0, 0, 0, 0);
  allow_next_launch();
  wait_for_previous();
  if (at.has_vector(rows)) {
#pragma unroll 4
    for (int i = part.begin + group; i < part.end; i += lane_groups) {
      const PairGate gate = layer.pair_gates[i];
      const float4 a = load(x, gate.a, rows, at.vector);
      const float4 b = load(x, gate.b, rows, at.vector);
      sum = each(sum, soft_gates(polynomial_of_pair(coefficients, layer, gate.gate), a, b), add);
    }
  }
  sums[threadIdx.x] = sum;
  for (int step = lane_groups / 2; step > 0; step /= 2) {
    __syncthreads();
    if (group < step) {
      sums[threadIdx.x] = each(sums[threadIdx.x], sums[threadIdx.x + step * kLanes], add);
    }
  }
  if (group == 0 && at.has_vector(rows)) {
    store(scores, blockIdx.x, rows, at.vector, sums[threadIdx.x]);
  }
}

/// Reduces a gate's sums over the lanes and stores them. All lanes of a warp take part.
template <int kLanes>
__device__ __forceinline__ void store_sums(const LayerBackward& arguments, PairSums sums, int gate,
                                           float4 c, bool wanted) {
  const int lane = threadIdx.x % kLanes;
  int which = 0;
  const float sum = sum_over_lanes<kLanes>(sums.total, lane, which);
  if (!wanted || lane % (kLanes / 4) != 0) return;
  float* to = arguments.sums + blockIdx.y * arguments.entries + arguments.layer.first_entry +
              static_cast<std::size_t>(gate) * 4 + which;
  *to = sum;
  if (!(fabsf(sum) < largest_sum) || !is_finite(c.x + c.y + c.z + c.w)) {
    *arguments.not_finite = arguments.state->stamp;
  }
}

/// The contribution of one reader to the gradient of its input.
__device__ __forceinline__ float4 passed_back(float4 g, float4 c, bool is_second, float4 other,
                                              float4 gx) {
  const float slope = is_second ? c.z : c.y;
  gx.x = fmaf(g.x, fmaf(c.w, other.x, slope), gx.x);
  gx.y = fmaf(g.y, fmaf(c.w, other.y, slope), gx.y);
  gx.z = fmaf(g.z, fmaf(c.w, other.z, slope), gx.z);
  gx.w = fmaf(g.w, fmaf(c.w, other.w, slope), gx.w);
  return gx;
}

/// Processes the readers of one input, from entry `at` on; `now` is that entry. Lanes past the last
/// sample read its data with a gradient of 0.
template <int kLanes>
__device__ __forceinline__ void gather_input(const LayerBackward& arguments, RowShape rows,
                                             const Group<kLanes>& group, int at, PairInput now,
                                             bool mine) {
  const bool has_vector = group.has_vector(rows);
  const unsigned vector = min(group.vector, static_cast<unsigned>(rows.vectors) - 1);
  const float4 zero = make_float4(0, 0, 0, 0);
  float4 gx = zero;
  // Lanes exchange sums, so the whole warp loops until its longest list ends.
  while (kLanes == 32 ? mine : __any_sync(0xffffffffU, mine)) {
    float4 g1 = load(arguments.g, now.first.g, rows, vector);
    const float4 other1 = load(arguments.x, now.first.partner, rows, vector);
    float4 g2 = load(arguments.g, now.second.g, rows, vector);
    const float4 other2 = load(arguments.x, now.second.partner, rows, vector);
    const float4 x = load(arguments.x, now.row, rows, vector);
    const float4 c1 = polynomial_of_pair(arguments.coefficients, arguments.layer, now.first.gate);
    const float4 c2 = polynomial_of_pair(arguments.coefficients, arguments.layer, now.second.gate);
    if (!has_vector) g1 = g2 = zero;
    const bool first_sums = mine && (now.flags & first_reads_second) == 0;
    const bool second_sums = mine && (now.flags & second_reads_second) == 0;
    gx = passed_back(g1, c1, (now.flags & first_reads_second) != 0, other1, gx);
    gx = passed_back(g2, c2, (now.flags & second_reads_second) != 0, other2, gx);
    if (kLanes == 32 ? first_sums : __any_sync(0xffffffffU, first_sums)) {
      store_sums<kLanes>(arguments, PairSums(g1, x, other1), now.first.gate, c1, first_sums);
    }
    if (kLanes == 32 ? second_sums : __any_sync(0xffffffffU, second_sums)) {
      store_sums<kLanes>(arguments, PairSums(g2, x, other2), now.second.gate, c2, second_sums);
    }
    if (mine && (now.flags & ends) != 0) {
      if (has_vector) store(arguments.gx, now.row, rows, vector, gx);
      mine = false;
    }
    if (mine) now = arguments.layer.pair_inputs[++at];
  }
}

/// Gradients of inputs, gathered from their readers. The sums of each gate are computed at its
/// first input.
template <int kLanes>
__global__ void __launch_bounds__(threads, 4)
    backward_pairs(const LayerBackward arguments, RowShape rows) {
  const Group<kLanes> group;
  const int count = arguments.layer.pair_input_count;
  allow_next_launch();
  int at = group.template position_of<inputs_in_turn>(0);
  PairInput next = arguments.layer.pair_inputs[at < count ? at : 0];
  wait_for_previous();
#pragma unroll 1
  for (int i = 0; i < inputs_in_turn; ++i) {
    const PairInput now = next;
    const int after = at + Group<kLanes>::per_block;
    if (i + 1 < inputs_in_turn && after < count) next = arguments.layer.pair_inputs[after];
    // Continuation entries are processed with the entry they continue.
    gather_input<kLanes>(arguments, rows, group, at, now,
                         at < count && (now.flags & continues) == 0);
    at = after;
  }
}

/// Only the sums, gate by gate, if input gradients are not needed. With `kStores`, every input has
/// one reader, which stores its gradient.
template <int kLanes, bool kStores>
__global__ void __launch_bounds__(threads) sum_pairs(const LayerBackward arguments, RowShape rows) {
  const Group<kLanes> group;
  const float4 zero = make_float4(0, 0, 0, 0);
  PairGate gate[sums_at_once];
  float4 g[sums_at_once], a[sums_at_once], b[sums_at_once];
#pragma unroll
  for (int i = 0; i < sums_at_once; ++i) {
    const int position = group.template position_of<sums_at_once>(i);
    gate[i].gate = -1;
    if (position < arguments.layer.gates) gate[i] = arguments.layer.pair_gates[position];
  }
  allow_next_launch();
  wait_for_previous();
#pragma unroll
  for (int i = 0; i < sums_at_once; ++i) {
    const bool loads = gate[i].gate >= 0 && group.has_vector(rows);
    g[i] = loads ? load(arguments.g, gate[i].row, rows, group.vector) : zero;
    a[i] = loads ? load(arguments.x, gate[i].a, rows, group.vector) : zero;
    b[i] = loads ? load(arguments.x, gate[i].b, rows, group.vector) : zero;
  }
#pragma unroll
  for (int i = 0; i < sums_at_once; ++i) {
    const bool is_live = gate[i].gate >= 0;
    const float4 c =
        polynomial_of_pair(arguments.coefficients, arguments.layer, is_live ? gate[i].gate : 0);
    store_sums<kLanes>(arguments, PairSums(g[i], a[i], b[i]), gate[i].gate, c, is_live);
    if (kStores && is_live && group.has_vector(rows)) {
      store(arguments.gx, gate[i].a, rows, group.vector, passed_back(g[i], c, false, b[i], zero));
      store(arguments.gx, gate[i].b, rows, group.vector, passed_back(g[i], c, true, a[i], zero));
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Gates of any number of inputs: one warp per gate, one sample per lane.

constexpr int warps = threads / 32;

struct WarpPosition {
  int index, first_sample, end_sample;
  __device__ explicit WarpPosition(RowShape rows)
      : index(blockIdx.x * warps + threadIdx.x / 32),
        first_sample(blockIdx.y * chunk_samples + threadIdx.x % 32),
        end_sample(min(rows.vectors * 4, (static_cast<int>(blockIdx.y) + 1) * chunk_samples)) {}
};

/// The inputs of a gate at one sample.
template <int kArity>
__device__ __forceinline__ void load_inputs(const int* sources, const float* x, RowShape rows,
                                            int sample, float* inputs) {
#pragma unroll
  for (int slot = 0; slot < kArity; ++slot) {
    inputs[slot] = x[static_cast<std::size_t>(sources[slot]) * rows.stride + sample];
  }
}

/// Halves the remaining polynomial with each input, from `kSlot` down. Recursive templates keep
/// every array index a compile-time constant.
template <int kSlot>
__device__ __forceinline__ void halve(float* value, const float* inputs, int derived) {
  if constexpr (kSlot >= 0) {
#pragma unroll
    for (int e = 0; e < (1 << kSlot); ++e) {
      const float slope = value[e + (1 << kSlot)];
      value[e] = kSlot == derived ? slope : fmaf(inputs[kSlot], slope, value[e]);
    }
    halve<kSlot - 1>(value, inputs, derived);
  }
}

/// The polynomial at `inputs`, or its partial derivative if `derived` is an input.
template <int kArity>
__device__ __forceinline__ float polynomial(const float* c, const float* inputs, int derived) {
  constexpr int half = 1 << (kArity - 1);
  float value[half];
#pragma unroll
  for (int e = 0; e < half; ++e) {
    const float slope = c[e + half];
    value[e] = kArity - 1 == derived ? slope : fmaf(inputs[kArity - 1], slope, c[e]);
  }
  halve<kArity - 2>(value, inputs, derived);
  return value[0];
}

/// Products of all subsets of the inputs, times the first element.
template <int kSlot, int kArity>
__device__ __forceinline__ void multiply_out(float* product, const float* inputs) {
  if constexpr (kSlot < kArity) {
#pragma unroll
    for (int e = 0; e < (1 << kSlot); ++e) {
      product[e + (1 << kSlot)] = product[e] * inputs[kSlot];
    }
    multiply_out<kSlot + 1, kArity>(product, inputs);
  }
}

template <int kArity>
__global__ void __launch_bounds__(threads)
    forward_gates(const NetworkLayer layer, const float* coefficients, const float* x,
                  RowShape rows, float* y) {
  const WarpPosition at(rows);
  allow_next_launch();
  wait_for_previous();
  if (at.index >= layer.gates) return;
  const float* c =
      coefficients + layer.first_entry + (static_cast<std::size_t>(at.index) << kArity);
  const int* sources = layer.source_rows + static_cast<std::size_t>(at.index) * kArity;
  const auto own_row = static_cast<std::size_t>(layer.output_rows[at.index]);
  for (int sample = at.first_sample; sample < at.end_sample; sample += 32) {
    float inputs[kArity];
    load_inputs<kArity>(sources, x, rows, sample, inputs);
    y[own_row * rows.stride + sample] = polynomial<kArity>(c, inputs, kArity);
  }
}

/// Sums outputs instead of storing them, as `score_pairs` does.
template <int kArity>
__global__ void __launch_bounds__(threads)
    score_gates(const NetworkLayer layer, const float* coefficients, const float* x, RowShape rows,
                int groups, int parts, float* scores) {
  constexpr int per_lane = chunk_samples / 32;
  __shared__ float sums[warps][chunk_samples];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int first_sample = blockIdx.y * chunk_samples;
  const int end_sample = rows.vectors * 4;
  const ScorePart part(layer, groups, parts);
  allow_next_launch();
  wait_for_previous();
  float sum[per_lane] = {};
  for (int gate = part.begin + warp; gate < part.end; gate += warps) {
    const float* c = coefficients + layer.first_entry + (static_cast<std::size_t>(gate) << kArity);
    const int* sources = layer.source_rows + static_cast<std::size_t>(gate) * kArity;
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      const int sample = first_sample + 32 * i + lane;
      if (sample >= end_sample) continue;
      float inputs[kArity];
      load_inputs<kArity>(sources, x, rows, sample, inputs);
      sum[i] += polynomial<kArity>(c, inputs, kArity);
    }
  }
#pragma unroll
  for (int i = 0; i < per_lane; ++i) sums[warp][32 * i + lane] = sum[i];
  __syncthreads();
  for (int i = threadIdx.x; i < chunk_samples; i += threads) {
    if (first_sample + i >= end_sample) continue;
    float total = sums[0][i];
    for (int w = 1; w < warps; ++w) total += sums[w][i];
    scores[static_cast<std::size_t>(blockIdx.x) * rows.stride + first_sample + i] = total;
  }
}

/// The sums of a gate, and the contributions to the gradients of its inputs, into the scratch
/// buffer.
template <int kArity>
__global__ void __launch_bounds__(threads)
    backward_gates(const LayerBackward arguments, RowShape rows) {
  constexpr int entries = 1 << kArity;
  const WarpPosition at(rows);
  allow_next_launch();
  wait_for_previous();
  if (at.index >= arguments.layer.gates) return;
  const auto gate = static_cast<std::size_t>(at.index);
  const float* c = arguments.coefficients + arguments.layer.first_entry + gate * entries;
  const int* sources = arguments.layer.source_rows + gate * kArity;
  const auto own_row = static_cast<std::size_t>(arguments.layer.gradient_rows[gate]);
  float sums[entries] = {};
  for (int sample = at.first_sample; sample < at.end_sample; sample += 32) {
    const float g = arguments.g[own_row * rows.stride + sample];
    float inputs[kArity];
    load_inputs<kArity>(sources, arguments.x, rows, sample, inputs);
    float product[entries];
    product[0] = g;
    multiply_out<0, kArity>(product, inputs);
#pragma unroll
    for (int e = 0; e < entries; ++e) sums[e] += product[e];
    if (arguments.gx == nullptr) continue;
    float* slots = arguments.reads_slots ? arguments.gx : arguments.slot_scratch;
#pragma unroll
    for (int slot = 0; slot < kArity; ++slot) {
      slots[(gate * kArity + slot) * rows.stride + sample] =
          g * polynomial<kArity>(c, inputs, slot);
    }
  }
  bool finite = true;
  float* to = arguments.sums + blockIdx.y * arguments.entries + arguments.layer.first_entry +
              gate * entries;
#pragma unroll
  for (int e = 0; e < entries; ++e) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sums[e] += __shfl_xor_sync(0xffffffffU, sums[e], step);
    finite = finite && fabsf(sums[e]) < largest_sum && is_finite(c[e]);
    if (threadIdx.x % 32 == 0) to[e] = sums[e];
  }
  if (!finite && threadIdx.x % 32 == 0) *arguments.not_finite = arguments.state->stamp;
}

/// Gradients of inputs, summed over all their uses.
__global__ void __launch_bounds__(threads)
    gather_gates(const LayerBackward arguments, RowShape rows) {
  const WarpPosition at(rows);
  allow_next_launch();
  wait_for_previous();
  if (at.index >= arguments.layer.inputs) return;
  const int* first_reader = arguments.layer.first_reader + at.index;
  for (int sample = at.first_sample; sample < at.end_sample; sample += 32) {
    float sum = 0;
    for (int i = first_reader[0]; i < first_reader[1]; ++i) {
      const GateReader reader = arguments.layer.readers[i];
      const auto scratch_row =
          static_cast<std::size_t>(reader.gate) * arguments.layer.arity + reader.slot;
      sum += arguments.slot_scratch[scratch_row * rows.stride + sample];
    }
    arguments.gx[static_cast<std::size_t>(at.index) * rows.stride + sample] = sum;
  }
}

// ---------------------------------------------------------------------------------------------

template <class F>
cudaError_t with_arity(int arity, F f) {
  switch (arity) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    case 4: return f(std::integral_constant<int, 4>{});
    case 5: return f(std::integral_constant<int, 5>{});
    default: return f(std::integral_constant<int, 6>{});
  }
}

}  // namespace

cudaError_t layer_forward(const NetworkLayer& layer, const float* coefficients, const float* x,
                          RowShape rows, float* y, cudaStream_t stream) {
  if (layer.arity == 2) {
    return with_lanes(rows, [&](auto lanes) {
      constexpr int per_block = threads / lanes.value * gates_at_once;
      return launch(forward_pairs<lanes.value>, grid(layer.gates, per_block, rows), threads, 0,
                    stream, layer, coefficients, x, rows, y);
    });
  }
  return with_arity(layer.arity, [&](auto arity) {
    return launch(forward_gates<arity.value>, grid(layer.gates, warps, rows), threads, 0, stream,
                  layer, coefficients, x, rows, y);
  });
}

cudaError_t layer_scores(const NetworkLayer& layer, const float* coefficients, const float* x,
                         RowShape rows, int groups, int parts, float* scores, cudaStream_t stream) {
  const dim3 blocks = grid(groups * parts, 1, rows);
  if (layer.arity == 2) {
    return with_lanes(rows, [&](auto lanes) {
      return launch(score_pairs<lanes.value>, blocks, threads, 0, stream, layer, coefficients, x,
                    rows, groups, parts, scores);
    });
  }
  return with_arity(layer.arity, [&](auto arity) {
    return launch(score_gates<arity.value>, blocks, threads, 0, stream, layer, coefficients, x,
                  rows, groups, parts, scores);
  });
}

cudaError_t layer_backward(const LayerBackward& arguments, RowShape rows, cudaStream_t stream) {
  const NetworkLayer& layer = arguments.layer;
  if (layer.arity == 2) {
    return with_lanes(rows, [&](auto lanes) {
      constexpr int groups = threads / lanes.value;
      const dim3 by_gate = grid(layer.gates, groups * sums_at_once, rows);
      if (arguments.gx != nullptr && arguments.reads_slots) {
        return launch(sum_pairs<lanes.value, true>, by_gate, threads, 0, stream, arguments, rows);
      }
      if (arguments.gx != nullptr) {
        return launch(backward_pairs<lanes.value>,
                      grid(layer.pair_input_count, groups * inputs_in_turn, rows), threads, 0,
                      stream, arguments, rows);
      }
      return launch(sum_pairs<lanes.value, false>, by_gate, threads, 0, stream, arguments, rows);
    });
  }
  const cudaError_t error = with_arity(layer.arity, [&](auto arity) {
    return launch(backward_gates<arity.value>, grid(layer.gates, warps, rows), threads, 0, stream,
                  arguments, rows);
  });
  if (error != cudaSuccess || arguments.gx == nullptr || arguments.reads_slots) return error;
  return launch(gather_gates, grid(layer.inputs, warps, rows), threads, 0, stream, arguments, rows);
}

}  // namespace boolgrad::cuda
