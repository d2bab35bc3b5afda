// The update, forward and backward. Internal to `cuda/`.
//
// A thread has the same four cells of the same gates in every layer. If nothing is held in
// registers, the wires and tables of the next layer are prefetched while this one is computed.
#pragma once

#include "boolgrad/backend/cuda/automaton/block.cuh"

namespace boolgrad::cuda::automata {

template <class T>
__device__ __forceinline__ const Four<T>& row(const T* from, int at) {
  return reinterpret_cast<const Four<T>*>(from)[at];
}

/// The same, from shared memory.
template <class T>
__device__ __forceinline__ Four<T> fetched_row(const T* from, int at) {
  return loaded(shared_address(from) + row_bytes * at, T{});
}

__device__ __forceinline__ Layer fetched_layer(const Layer* layers, int l) {
  const Four<unsigned> words = fetched_row(reinterpret_cast<const unsigned*>(layers), l);
  return {static_cast<int>(words.x), static_cast<int>(words.y), static_cast<int>(words.z),
          static_cast<int>(words.w)};
}
template <class F, class T>
__device__ __forceinline__ Four<T> fetched_coefficients(const Block<T>& block, int at) {
  if constexpr (F::tables_are_shared) {
    return fetched_row(reinterpret_cast<const T*>(block.coefficients), at);
  } else {
    return block.coefficients[at];
  }
}
template <class F, class T>
__device__ __forceinline__ std::uint32_t fetched_wires(const Block<T>& block, int at) {
  if constexpr (F::tables_are_shared) {
    std::uint32_t wires;
    const unsigned address =
        static_cast<unsigned>(__cvta_generic_to_shared(block.short_wires)) + 4 * at;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(wires) : "r"(address));
    return wires;
  } else {
    return block.short_wires[at];
  }
}

struct RowPair {
  int a, b;
};

/// The rows of a gate's two inputs.
__device__ __forceinline__ RowPair sources_of(const KernelArguments& args, std::uint32_t wires,
                                              int position) {
  if ((wires & long_sources) != 0) {
    const std::uint32_t sources = args.wires[position].sources;
    return {static_cast<int>(sources & 0xFFFF), static_cast<int>(sources >> 16)};
  }
  return {static_cast<int>(wires & short_row_mask),
          static_cast<int>(wires >> short_row_bits & short_row_mask)};
}

/// The position of a thread's gate. Threads without a gate use the last one.
__device__ __forceinline__ int position_in(const Layer& layer, int of) {
  return layer.first_gate + min(of, layer.gates - 1);
}

/// For at most one gate per thread. While the inputs are loaded, the next layer's addresses are
/// computed and the wires of the layer after it are fetched, so that threads only wait for the
/// inputs themselves.
template <class T, class F>
__device__ __forceinline__ void update_layers_at_once(const KernelArguments& args,
                                                      const Block<T>& block) {
  constexpr int bits = F::row_bits;
  const int v = threadIdx.x & ((1 << bits) - 1);
  const int of = threadIdx.x >> bits;
  const int last = args.layers - 1;
  const int begin = args.perceive_layers;
  Layer layer = block.layers[begin];
  Layer next = block.layers[min(begin + 1, last)];
  Layer after = block.layers[min(begin + 2, last)];
  const int first_at = position_in(layer, of);
  int next_at = position_in(next, of);
  Four<T> c = block.coefficients[first_at];
  std::uint32_t next_wires = block.short_wires[next_at];
  const auto offsets = [&](std::uint32_t wires, int at, int inputs_at) {
    const RowPair rows = sources_of(args, wires, at);
    const int from = (inputs_at >> 2) + v;
    return RowPair{from + (rows.a << bits), from + (rows.b << bits)};
  };
  RowPair inputs = offsets(block.short_wires[first_at], first_at, layer.inputs_at);
  for (int l = begin; l <= last; ++l) {
    const Four<T> a = fetched_row(block.acts, inputs.a);
    const Four<T> b = fetched_row(block.acts, inputs.b);
    const Four<T> next_c = fetched_coefficients<F>(block, next_at);
    const int after_at = position_in(after, of);
    const std::uint32_t after_wires = fetched_wires<F>(block, after_at);
    const Layer third = fetched_layer(block.layers, min(l + 3, last));
    inputs = offsets(next_wires, next_at, next.inputs_at);
    const Four<T> y = gate(c, a, b);
    if (of < layer.gates) {
      reinterpret_cast<Four<T>*>(block.acts + layer.outputs_at)[threadIdx.x] = y;
    }
    c = next_c;
    next_wires = after_wires;
    next_at = after_at;
    layer = next;
    next = after;
    after = third;
    __syncthreads();
  }
}

template <class T>
__device__ __forceinline__ void update_layers_in_turn(const KernelArguments& args,
                                                      const Block<T>& block) {
  const int bits = args.tile_bits - 2;
  const int v = threadIdx.x & ((1 << bits) - 1);
  const int step = threads() >> bits;
  for (int l = args.perceive_layers; l < args.layers; ++l) {
    const Layer layer = block.layers[l];
    const T* x = block.acts + layer.inputs_at + 4 * v;
    auto* y = reinterpret_cast<Four<T>*>(block.acts + layer.outputs_at) + v;
    for (int of = threadIdx.x >> bits; of < layer.gates; of += step) {
      const int at = layer.first_gate + of;
      const RowPair rows = sources_of(args, block.short_wires[at], at);
      y[of << bits] = gate(block.coefficients[at], row(x, rows.a << bits), row(x, rows.b << bits));
    }
    __syncthreads();
  }
}

/// Layers of perception if kernels are trees.
template <int kOutputs>
constexpr int tree_layers = kOutputs == 1 ? 4 : 3;

// Input rows have 12 bits each. These flags are in the gap above the first.
constexpr std::uint32_t held_row_mask = 0xFFF;
constexpr std::uint32_t held_once = 1U << 12;
constexpr std::uint32_t held_again = 1U << 13;
constexpr std::uint32_t held_thrice = 1U << 14;

/// Loads data written by other blocks.
__device__ __forceinline__ Four<float> fetched_global(const Four<float>* from) {
  const float4 v = __ldcg(reinterpret_cast<const float4*>(from));
  return {v.x, v.y, v.z, v.w};
}
__device__ __forceinline__ Four<unsigned> fetched_global(const Four<unsigned>* from) {
  const uint4 v = __ldcg(reinterpret_cast<const uint4*>(from));
  return {v.x, v.y, v.z, v.w};
}

template <class T, class F>
__device__ __forceinline__ void hold_gate(const KernelArguments& args, int position,
                                          HeldGate<T, F>& gate) {
  const Wires wires = args.wires[position];
  gate.sources = wires.sources | ((wires.reads.rows & 0xFFFF) != 0 ? held_once : 0) |
                 ((wires.reads.rows >> 16) != 0 ? held_again : 0) |
                 (wires.reads.rest >= 0 ? held_thrice : 0);
  gate.edges = wires.edges;
  if constexpr (F::holds_coefficients) {
    gate.coefficients = fetched_global(static_cast<const Four<T>*>(args.coefficients) + position);
  }
}

/// A wide layer of the update, for variants that hold gates.
template <int kOutputs>
__device__ __forceinline__ const Layer& wide_layer(const KernelArguments& args, int l) {
  return args.layer[tree_layers<kOutputs> + l];
}
/// The first gate of the narrow layers, which may be empty.
__device__ __forceinline__ int narrow_gates_from(const KernelArguments& args) {
  const Layer& last_wide = args.layer[args.narrow_from - 1];
  return last_wide.first_gate + last_wide.gates;
}

/// Loads the gates that a thread holds.
template <class T, class F, int kOutputs>
__device__ __forceinline__ void hold(const KernelArguments& args, Held<T, F>& held) {
#pragma unroll
  for (int l = 0; l < F::held; ++l) {
    held.wide[l].sums = {};
    if (tree_layers<kOutputs> + l >= args.narrow_from) continue;
    const Layer& layer = wide_layer<kOutputs>(args, l);
    if (threadIdx.x < layer.gates) hold_gate(args, layer.first_gate + threadIdx.x, held.wide[l]);
  }
  held.narrow.sums = {};
  const int position = narrow_gates_from(args) + threadIdx.x;
  if (F::held > 0 && position < args.gates) hold_gate(args, position, held.narrow);
}

template <class T, class F>
__device__ __forceinline__ Four<T> held_coefficients(const Block<T>& block,
                                                     const HeldGate<T, F>& gate, int position) {
  if constexpr (F::holds_coefficients) return gate.coefficients;
  return loaded(shared_address(block.coefficients + position), T{});
}

/// Computes four cells of gate `of` of a layer.
template <class T, class F>
__device__ __forceinline__ void compute_gate(const Block<T>& block, const Layer& layer, int of,
                                             const HeldGate<T, F>& held) {
  const unsigned acts = shared_address(block.acts);
  const unsigned from = acts + 4 * layer.inputs_at;
  const Four<T> c = held_coefficients(block, held, layer.first_gate + of);
  const Four<T> a = loaded(from + row_bytes * (held.sources & held_row_mask), T{});
  const Four<T> b = loaded(from + row_bytes * (held.sources >> 16), T{});
  store(acts + 4 * layer.outputs_at + row_bytes * of, gate(c, a, b));
}

/// Each thread has at most one gate per layer, and four of its cells.
template <class T, class F, int kOutputs>
__device__ __forceinline__ void update_layers_held(const KernelArguments& args,
                                                   const Block<T>& block, const Held<T, F>& held) {
#pragma unroll
  for (int l = 0; l < F::held; ++l) {
    if (tree_layers<kOutputs> + l >= args.narrow_from) continue;
    const Layer& layer = wide_layer<kOutputs>(args, l);
    if (threadIdx.x < layer.gates) compute_gate(block, layer, threadIdx.x, held.wide[l]);
    __syncthreads();
  }
  const int position = narrow_gates_from(args) + threadIdx.x;
  for (int l = args.narrow_from; l < args.layers; ++l) {
    const Layer& layer = block.layers[l];
    const int of = position - layer.first_gate;
    if (of >= 0 && of < layer.gates) compute_gate(block, layer, of, held.narrow);
    __syncthreads();
  }
}

template <class T, class F, int kOutputs>
__device__ __forceinline__ void update_layers(const KernelArguments& args, const Block<T>& block,
                                              const Held<T, F>& held) {
  if constexpr (F::held > 0) update_layers_held<T, F, kOutputs>(args, block, held);
  else if constexpr (F::one_gate) update_layers_at_once<T, F>(args, block);
  else update_layers_in_turn(args, block);
}

/// The sums of a gate over its lanes. Lanes exchange halves, so that each ends with a part of the
/// four sums: two each for two lanes, one each for four.
struct SumPart {
  float2 two;
  float one;
};

__device__ __forceinline__ SumPart exchanged(int v, int vectors, const Four<float>& mine) {
  const bool upper = (v & 1) != 0;
  SumPart part;
  part.two = upper ? make_float2(mine.z, mine.w) : make_float2(mine.x, mine.y);
  const float2 other = upper ? make_float2(mine.x, mine.y) : make_float2(mine.z, mine.w);
  part.two.x += __shfl_xor_sync(~0U, other.x, 1);
  part.two.y += __shfl_xor_sync(~0U, other.y, 1);
  part.one = 0;
  if (vectors == 2) return part;
  const bool second = (v & 2) != 0;
  part.one = second ? part.two.y : part.two.x;
  part.one += __shfl_xor_sync(~0U, second ? part.two.x : part.two.y, 2);
  for (int step = 4; step < vectors; step *= 2) {
    part.one += __shfl_xor_sync(~0U, part.one, step);
  }
  return part;
}

/// Which of the four sums a lane ends with, if it ends with one.
__device__ __forceinline__ int sum_index(int v) { return (v & 1) * 2 + (v >> 1 & 1); }

__device__ __forceinline__ void add_to_sums(Four<float>* sums, bool is_live, int v, int vectors,
                                            const Four<float>& mine) {
  if (vectors == 1) {
    if (is_live) *sums = *sums + mine;
    return;
  }
  const SumPart part = exchanged(v, vectors, mine);
  if (!is_live) return;
  if (vectors == 2) {
    float2& all = reinterpret_cast<float2*>(sums)[v & 1];
    all = make_float2(all.x + part.two.x, all.y + part.two.y);
  } else if (v < 4) {
    reinterpret_cast<float*>(sums)[sum_index(v)] += part.one;
  }
}

/// Rows that a gate of the update reads and writes.
struct GateConnections {
  RowPair sources;
  RowPair edges;
  Reads reads;
};

/// `stride` is that of the layer's inputs; the stride of its outputs is `gates`.
__device__ __forceinline__ GateConnections connections_of(const KernelArguments& args,
                                                          std::uint32_t wires, int position, int of,
                                                          int gates, int stride) {
  GateConnections connections;
  connections.sources = {static_cast<int>(wires & short_row_mask),
                         static_cast<int>(wires >> short_row_bits & short_row_mask)};
  connections.edges.a =
      1 + connections.sources.a + static_cast<int>(wires >> second_edges_bit & 1) * stride;
  connections.edges.b =
      1 + connections.sources.b + static_cast<int>(wires >> (second_edges_bit + 1) & 1) * stride;
  const unsigned first = (wires & read_once) != 0 ? 1 + of : 0;
  const unsigned second = (wires & read_again) != 0 ? 1 + of + gates : 0;
  connections.reads = {first | second << 16, -1};
  if ((wires & long_edges) != 0) {
    const Wires all = args.wires[position];
    connections.sources = {static_cast<int>(all.sources & 0xFFFF),
                           static_cast<int>(all.sources >> 16)};
    connections.edges = {static_cast<int>(all.edges & 0xFFFF), static_cast<int>(all.edges >> 16)};
    connections.reads = all.reads;
  }
  return connections;
}

/// The contribution of four cells to a gate's sums.
__device__ __forceinline__ Four<float> products(const Four<float>& a, const Four<float>& b,
                                                const Four<float>& g) {
  const Four<float> ga = g * a;
  return {total(g), total(ga), total(g * b), total(ga * b)};
}

/// Propagates a gate's output gradient to its inputs. Returns the sums over its four cells.
__device__ __forceinline__ Four<float> propagate(const RowPair& edges, const Four<float>& c,
                                                 const Four<float>& a, const Four<float>& b,
                                                 const Four<float>& g, bool is_live, float* below,
                                                 int bits) {
  auto* to = reinterpret_cast<Four<float>*>(below);
  const Four<float> to_a = g * multiply_add(c.w, b, c.y);
  const Four<float> to_b = g * multiply_add(c.w, a, c.z);
  if (is_live) {
    to[edges.a << bits] = to_a;
    to[edges.b << bits] = to_b;
  }
  return products(a, b, g);
}

/// As `update_layers_at_once`, from the last layer to the first.
template <class F>
__device__ __forceinline__ void update_layers_backward_at_once(const KernelArguments& args,
                                                               const Block<float>& block) {
  constexpr int bits = F::row_bits;
  constexpr int vectors = 1 << bits;
  static_assert(bits == 2, "a lane ends with one of four sums");
  const int v = threadIdx.x & (vectors - 1);
  const int of = threadIdx.x >> bits;
  const int first = args.perceive_layers;
  Layer layer = block.layers[args.layers - 1];
  Layer next = block.layers[max(args.layers - 2, first)];
  Layer after = block.layers[max(args.layers - 3, first)];
  int at = position_in(layer, of);
  int next_at = position_in(next, of);
  std::uint32_t next_wires = block.short_wires[next_at];
  Four<float> c = block.coefficients[at];
  const auto connections_in = [&](std::uint32_t wires, int position, int l, const Layer& layer_of,
                                  const Layer& before) {
    return connections_of(args, wires, position, min(of, layer_of.gates - 1), layer_of.gates,
                          l == first ? args.input_rows : before.gates);
  };
  GateConnections connections =
      connections_in(block.short_wires[at], at, args.layers - 1, layer, next);
  for (int l = args.layers - 1; l >= first; --l) {
    const float* above = block.edges(l + 1) + 4 * v;
    const float* x = block.acts + layer.inputs_at + 4 * v;
    const Four<float> once =
        fetched_row(above, static_cast<int>(connections.reads.rows & 0xFFFF) << bits);
    const Four<float> again =
        fetched_row(above, static_cast<int>(connections.reads.rows >> 16) << bits);
    const Four<float> a = fetched_row(x, connections.sources.a << bits);
    const Four<float> b = fetched_row(x, connections.sources.b << bits);
    const bool is_live = of < layer.gates;
    float* one_sum = reinterpret_cast<float*>(block.sums + at) + sum_index(v);
    const float sum = is_live ? *one_sum : 0;
    const Four<float> next_c = fetched_coefficients<F>(block, next_at);
    const int after_at = position_in(after, of);
    const std::uint32_t after_wires = fetched_wires<F>(block, after_at);
    const Layer last = fetched_layer(block.layers, max(l - 3, first));
    const GateConnections next_connections =
        connections_in(next_wires, next_at, l - 1, next, after);
    next_wires = after_wires;
    Four<float> g = once + again;
    if (connections.reads.rest >= 0) {
      const Rest rest = args.rest[connections.reads.rest];
#pragma unroll 1
      for (int i = 0; i < rest.count; ++i) g = g + row(above, (rest.first + i) << bits);
    }
    const Four<float> mine =
        propagate(connections.edges, c, a, b, g, is_live, block.edges(l) + 4 * v, bits);
    const SumPart part = exchanged(v, vectors, mine);
    if (is_live) *one_sum = sum + part.one;
    connections = next_connections;
    c = next_c;
    at = next_at;
    next_at = after_at;
    layer = next;
    next = after;
    after = last;
    __syncthreads();
  }
}

__device__ __forceinline__ void update_layers_backward_in_turn(const KernelArguments& args,
                                                               const Block<float>& block) {
  const int bits = args.tile_bits - 2;
  const int vectors = 1 << bits;
  const int v = threadIdx.x & (vectors - 1);
  const int first = threadIdx.x >> bits;
  const int warp_first = (threadIdx.x & ~31) >> bits;
  const int step = threads() >> bits;
  for (int l = args.layers - 1; l >= args.perceive_layers; --l) {
    const Layer layer = block.layers[l];
    const float* x = block.acts + layer.inputs_at + 4 * v;
    const auto* above = reinterpret_cast<const Four<float>*>(block.edges(l + 1)) + v;
    for (int from = 0; warp_first + from < layer.gates; from += step) {
      const bool is_live = first + from < layer.gates;
      const int of = min(first + from, layer.gates - 1);
      const int at = layer.first_gate + of;
      const GateConnections connections =
          connections_of(args, block.short_wires[at], at, of, layer.gates,
                         l == args.perceive_layers ? args.input_rows : block.layers[l - 1].gates);
      const Four<float> a = row(x, connections.sources.a << bits);
      const Four<float> b = row(x, connections.sources.b << bits);
      const Four<float> g = gathered(args, connections.reads, above, vectors);
      const Four<float> mine = propagate(connections.edges, block.coefficients[at], a, b, g,
                                         is_live, block.edges(l) + 4 * v, bits);
      add_to_sums(block.sums + at, is_live, v, vectors, mine);
    }
    __syncthreads();
  }
}

/// Backward pass for four cells of gate `of` of layer l: writes the edges of its inputs and adds to
/// its sums.
template <class F>
__device__ __forceinline__ void compute_gate_backward(const Block<float>& block, const Layer& layer,
                                                      int l, int of, HeldGate<float, F>& held) {
  const std::uint32_t sources = held.sources;
  const unsigned above = shared_address(block.edges(l + 1)) + row_bytes;
  const unsigned below = shared_address(block.edges(l));
  const unsigned from = shared_address(block.acts) + 4 * layer.inputs_at;
  Four<float> g{};
  Four<float> again{};
  if ((sources & held_once) != 0) g = loaded(above + row_bytes * of, float{});
  if ((sources & held_again) != 0) {
    again = loaded(above + row_bytes * (of + layer.gates), float{});
  }
  const Four<float> a = loaded(from + row_bytes * (sources & held_row_mask), float{});
  const Four<float> b = loaded(from + row_bytes * (sources >> 16), float{});
  const Four<float> c = held_coefficients(block, held, layer.first_gate + of);
  g = g + again;
  if ((sources & held_thrice) != 0) {
    g = g + loaded(above + row_bytes * 2 * layer.gates, float{});
  }
  store(below + row_bytes * (held.edges & 0xFFFF), g * multiply_add(c.w, b, c.y));
  store(below + row_bytes * (held.edges >> 16), g * multiply_add(c.w, a, c.z));
  add_products(held.sums, a, b, g);
}

/// As `update_layers_held`, from the last layer to the first.
template <class F, int kOutputs>
__device__ __forceinline__ void update_layers_backward_held(const KernelArguments& args,
                                                            const Block<float>& block,
                                                            Held<float, F>& held) {
  const int position = narrow_gates_from(args) + threadIdx.x;
  for (int l = args.layers - 1; l >= args.narrow_from; --l) {
    const Layer& layer = block.layers[l];
    const int of = position - layer.first_gate;
    if (of >= 0 && of < layer.gates) compute_gate_backward(block, layer, l, of, held.narrow);
    __syncthreads();
  }
#pragma unroll
  for (int l = F::held - 1; l >= 0; --l) {
    if (tree_layers<kOutputs> + l >= args.narrow_from) continue;
    const Layer& layer = wide_layer<kOutputs>(args, l);
    if (threadIdx.x < layer.gates) {
      compute_gate_backward(block, layer, tree_layers<kOutputs> + l, threadIdx.x, held.wide[l]);
    }
    __syncthreads();
  }
}

/// From the edges of the update's outputs to those of its inputs.
template <class F, int kOutputs>
__device__ __forceinline__ void update_layers_backward(const KernelArguments& args,
                                                       const Block<float>& block,
                                                       Held<float, F>& held) {
  if constexpr (F::held > 0) {
    update_layers_backward_held<F, kOutputs>(args, block, held);
  } else if constexpr (F::one_gate) {
    update_layers_backward_at_once<F>(args, block);
  } else {
    update_layers_backward_in_turn(args, block);
  }
}

}  // namespace boolgrad::cuda::automata
