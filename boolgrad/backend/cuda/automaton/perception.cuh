// Perception, forward and backward. Internal to `cuda/`.
//
// A kernel of 8, 4, 2 (and 1) gates, with each output read once, is a tree. Node i < 8 reads patch
// row i and the cell itself; node i >= 8 reads nodes 2 (i - 8) and 2 (i - 8) + 1. There is one warp
// per kernel and one thread per patch column, and all values stay in registers.
#pragma once

#include "boolgrad/backend/cuda/automaton/block.cuh"

namespace boolgrad::cuda::automata {

template <int kOutputs>
constexpr int tree_nodes = kOutputs == 1 ? 15 : 14;

template <class T, int kNodes>
__device__ __forceinline__ void evaluate_tree(const Four<T>* coefficients, int kernels,
                                              const T* patch, int columns, T (&x)[9],
                                              T (&y)[kNodes]) {
#pragma unroll
  for (int row = 0; row < 9; ++row) x[row] = patch[row * columns];
#pragma unroll
  for (int i = 0; i < kNodes; ++i) {
    const Four<T> c = coefficients[i * kernels];
    y[i] =
        i < 8 ? gate(c, x[i], x[8]) : gate(c, y[i < 8 ? 0 : 2 * i - 16], y[i < 8 ? 0 : 2 * i - 15]);
  }
}

/// Maximum kernels per warp: eight warps share 16 kernels.
constexpr int max_slots = 2;

/// Calls `f(slot, kernel, column, step)` for the kernels of this warp. `column` is the thread's
/// first column and `step` the distance to its next. Calls are warp-uniform, so columns may lie
/// past the end.
template <class F, class Function>
__device__ __forceinline__ void for_kernels(const KernelArguments& args, Function f) {
  const int kernels = kernels_of<F>(args);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x & 31;
  const int parts = kernels >= warps_of<F>() ? 1 : warps_of<F>() / kernels;
  const int part = parts == 1 ? 0 : warp / kernels;
  if (part >= parts) return;
#pragma unroll
  for (int slot = 0; slot < max_slots; ++slot) {
    const int kernel = warp - part * kernels + slot * warps_of<F>();
    if (kernel < kernels) f(slot, kernel, part * 32 + lane, parts * 32);
  }
}

template <class T, class F, int kOutputs>
__device__ __forceinline__ void perceive_trees(const KernelArguments& args, const Block<T>& block) {
  constexpr int nodes = tree_nodes<kOutputs>;
  const int columns = columns_of<F>(args);
  const int kernels = kernels_of<F>(args);
  for_kernels<F>(args, [&](int, int kernel, int first, int step) {
    for (int j = first; j < columns; j += step) {
      T x[9];
      T y[nodes];
      evaluate_tree<T, nodes>(block.coefficients + kernel, kernels, block.patch + j, columns, x, y);
#pragma unroll
      for (int s = 0; s < kOutputs; ++s) {
        block.update_inputs[(1 + s * kernels + kernel) * columns + j] = y[nodes - kOutputs + s];
      }
    }
  });
  __syncthreads();
}

/// The gradient of a value: the sum of its edges, in a fixed order.
template <class V>
__device__ __forceinline__ V gathered(const KernelArguments& args, const Reads& reads,
                                      const V* edges, int vectors) {
  V g = edges[(reads.rows & 0xFFFF) * vectors] + edges[(reads.rows >> 16) * vectors];
  if (reads.rest >= 0) {
    const Rest rest = args.rest[reads.rest];
#pragma unroll 1
    for (int i = 0; i < rest.count; ++i) g = g + edges[(rest.first + i) * vectors];
  }
  return g;
}

/// The gradient of a word that the update reads: a channel of the cell if `row` is 0, else an
/// output of perception.
__device__ __forceinline__ float update_input_gradient(const KernelArguments& args,
                                                       const Block<float>& block, int row, int j) {
  const Reads reads = block.input_reads[row * args.channels + (j >> args.tile_bits)];
  return gathered(args, reads, block.edges(args.perceive_layers) + (j & (args.tile - 1)),
                  args.tile);
}

/// Transposing reduction: lanes kHalf apart exchange half of their 2 kHalf values and add the other
/// half, down to one value each. Lane i ends with the sum of value i. Recursive, so that no array
/// is indexed at run time.
template <int kHalf>
__device__ __forceinline__ void fold_over_lanes(float (&values)[32]) {
  const bool upper = (threadIdx.x & kHalf) != 0;
#pragma unroll
  for (int i = 0; i < kHalf; ++i) {
    const float given = upper ? values[i] : values[i + kHalf];
    const float kept = upper ? values[i + kHalf] : values[i];
    values[i] = kept + __shfl_xor_sync(~0U, given, kHalf);
  }
  if constexpr (kHalf > 1) fold_over_lanes<kHalf / 2>(values);
}

/// The part of a kernel's table sums in one lane: of leaf lane / 4, and of inner node 8 + lane / 4.
/// lane % 4 selects one of the four sums.
struct TreeSums {
  float leaf, inner;
};

/// Table sums of nodes kFirst to kEnd of a tree, [node][4], over all lanes.
template <int kFirst, int kEnd, int kNodes>
__device__ __forceinline__ float folded_sums(const float (&x)[9], const float (&y)[kNodes],
                                             const float (&g)[kNodes]) {
  float parts[32] = {};
#pragma unroll
  for (int i = kFirst; i < kEnd; ++i) {
    const float a = i < 8 ? x[i] : y[i < 8 ? 0 : 2 * i - 16];
    const float b = i < 8 ? x[8] : y[i < 8 ? 0 : 2 * i - 15];
    const float ga = g[i] * a;
    parts[4 * (i - kFirst)] = g[i];
    parts[4 * (i - kFirst) + 1] = ga;
    parts[4 * (i - kFirst) + 2] = g[i] * b;
    parts[4 * (i - kFirst) + 3] = ga * b;
  }
  fold_over_lanes<16>(parts);
  return parts[0];
}

/// A thread's tree sums: of its lane, for each kernel of its warp; or of one node of one kernel.
struct AllTreeSums {
  TreeSums of_lane[max_slots];
  Four<float> of_node;
};

/// Writes the operands of the tree sums for one column: the gradients of all nodes, and the values
/// of inner inputs.
template <class F, int kOutputs>
__device__ __forceinline__ void spread_column(const KernelArguments& args,
                                              const Block<float>& block, int kernel, int column,
                                              const float (&y)[tree_nodes<kOutputs>],
                                              const float (&g)[tree_nodes<kOutputs>]) {
  constexpr int nodes = tree_nodes<kOutputs>;
  const int words = tree_row_words(columns_of<F>(args));
  float* to = block.tree_rows + kernel * spread_rows(kOutputs) * words + column;
#pragma unroll
  for (int i = 0; i < nodes; ++i) to[i * words] = g[i];
#pragma unroll
  for (int i = 0; i < nodes - kOutputs; ++i) to[(nodes + i) * words] = y[i];
}

/// Sums the spread columns: one thread per node of a kernel.
template <class F, int kOutputs>
__device__ __forceinline__ void add_spread_columns(const KernelArguments& args,
                                                   const Block<float>& block, Four<float>& sum) {
  constexpr int nodes = tree_nodes<kOutputs>;
  const int kernels = kernels_of<F>(args);
  const int columns = columns_of<F>(args);
  const int words = tree_row_words(columns);
  const int node = threadIdx.x / kernels;
  if (node >= nodes) return;
  const float* rows = block.tree_rows + threadIdx.x % kernels * spread_rows(kOutputs) * words;
  const auto spread = [&](int row) {
    return reinterpret_cast<const Four<float>*>(rows + row * words);
  };
  const auto patch = [&](int row) {
    return reinterpret_cast<const Four<float>*>(block.patch + row * columns);
  };
  const Four<float>* g = spread(node);
  const Four<float>* a = node < 8 ? patch(node) : spread(nodes + 2 * node - 16);
  const Four<float>* b = node < 8 ? patch(8) : spread(nodes + 2 * node - 15);
#pragma unroll 4
  for (int i = 0; i < columns / 4; ++i) add_products(sum, a[i], b[i], g[i]);
}

/// Gradients of trees: of their tables into `sums`, of patches into the staging buffer
/// [kernel][row].
template <class F, int kOutputs>
__device__ __forceinline__ void perceive_trees_backward(const KernelArguments& args,
                                                        const Block<float>& block,
                                                        AllTreeSums& sums, bool wants_patch) {
  constexpr int nodes = tree_nodes<kOutputs>;
  const int columns = columns_of<F>(args);
  const int kernels = kernels_of<F>(args);
  for_kernels<F>(args, [&](int slot, int kernel, int first, int step) {
    const Four<float>* coefficients = block.coefficients + kernel;
    const int lane = threadIdx.x & 31;
    for (int j = first; j - lane < columns; j += step) {
      float x[9];
      float y[nodes];
      float g[nodes];
      const bool is_live = j < columns;
      const int column = is_live ? j : 0;
      evaluate_tree<float, nodes>(coefficients, kernels, block.patch + column, columns, x, y);
#pragma unroll
      for (int s = 0; s < kOutputs; ++s) {
        g[nodes - kOutputs + s] =
            is_live ? update_input_gradient(args, block, 1 + s * kernels + kernel, column) : 0;
      }
#pragma unroll
      for (int i = nodes - 1; i >= 8; --i) {
        const Four<float> c = coefficients[i * kernels];
        g[2 * i - 16] = g[i] * fmaf(c.w, y[2 * i - 15], c.y);
        g[2 * i - 15] = g[i] * fmaf(c.w, y[2 * i - 16], c.z);
      }
      if constexpr (F::spreads_trees) {
        if (is_live) spread_column<F, kOutputs>(args, block, kernel, column, y, g);
      } else {
        sums.of_lane[slot].inner += folded_sums<8, nodes>(x, y, g);
        sums.of_lane[slot].leaf += folded_sums<0, 8>(x, y, g);
      }
      if (!wants_patch || !is_live) continue;
      float* staged = block.staging + kernel * neighbourhood * columns + column;
      float g_own = 0;
#pragma unroll
      for (int i = 7; i >= 0; --i) {
        const Four<float> c = coefficients[i * kernels];
        staged[i * columns] = g[i] * fmaf(c.w, x[8], c.y);
        g_own += g[i] * fmaf(c.w, x[i], c.z);
      }
      staged[8 * columns] = g_own;
    }
  });
  __syncthreads();
  if constexpr (F::spreads_trees) add_spread_columns<F, kOutputs>(args, block, sums.of_node);
}

/// Stores sums held one node per thread.
template <int kNodes>
__device__ __forceinline__ void store_tree_sums(const KernelArguments& args,
                                                const Four<float>& sum) {
  if (threadIdx.x >= kNodes * args.kernels) return;
  reinterpret_cast<Four<float>*>(
      args.block_sums)[std::size_t(blockIdx.x) * args.gates + threadIdx.x] = sum;
}

/// Stores sums held across the lanes of warps. Sums 4 i to 4 i + 3 of a kernel belong to node i.
template <class F, int kNodes>
__device__ __forceinline__ void store_tree_sums(const KernelArguments& args, float* staged,
                                                const TreeSums (&sums)[max_slots]) {
  for_kernels<F>(args, [&](int slot, int, int, int) {
    float* of_warp = staged + (threadIdx.x / 32 + slot * warps()) * 64 + (threadIdx.x & 31);
    of_warp[0] = sums[slot].leaf;
    of_warp[32] = sums[slot].inner;
  });
  __syncthreads();
  const int parts = max(1, warps() / args.kernels);
  auto* to = reinterpret_cast<float*>(args.block_sums + std::size_t(blockIdx.x) * args.gates);
  for (int i = threadIdx.x; i < 4 * kNodes * args.kernels; i += threads()) {
    const int kernel = i / 4 % args.kernels;
    const int node = i / 4 / args.kernels;
    float sum = 0;
    for (int part = 0; part < parts; ++part) {
      sum += staged[(part * args.kernels + kernel) * 64 + 4 * node + i % 4];
    }
    to[i] = sum;
  }
}

template <class T>
__device__ __forceinline__ void perceive_layers(const KernelArguments& args,
                                                const Block<T>& block) {
  const int columns = args.columns;
  for (int l = 0; l < args.perceive_layers; ++l) {
    const Layer& layer = block.layers[l];
    const T* x = block.acts + layer.inputs_at;
    T* y = block.acts + layer.outputs_at;
    for (int i = threadIdx.x; i < layer.gates * columns; i += threads()) {
      const int at = layer.first_gate + i / columns;
      const std::uint32_t sources = args.wires[at].sources;
      const int j = i % columns;
      y[i] = gate(block.coefficients[at], x[(sources & 0xFFFF) * columns + j],
                  x[(sources >> 16) * columns + j]);
    }
    __syncthreads();
  }
}

/// The gradient of a gate's output.
__device__ __forceinline__ float perceived_gradient(const KernelArguments& args,
                                                    const Block<float>& block, int l, int of,
                                                    int j) {
  if (l + 1 == args.perceive_layers) return update_input_gradient(args, block, 1 + of, j);
  return gathered(args, args.wires[block.layers[l].first_gate + of].reads,
                  block.perceive_edges(l + 1) + j, args.columns);
}

/// One warp per gate computes its sums over all columns, and its edges.
__device__ __forceinline__ void perceive_layers_backward(const KernelArguments& args,
                                                         const Block<float>& block) {
  const int columns = args.columns;
  const int lane = threadIdx.x & 31;
  for (int l = args.perceive_layers - 1; l >= 0; --l) {
    const Layer& layer = block.layers[l];
    const float* x = block.acts + layer.inputs_at;
    float* edges = block.perceive_edges(l);
    for (int of = threadIdx.x / 32; of < layer.gates; of += warps()) {
      const Wires wires = args.wires[layer.first_gate + of];
      const Four<float> c = block.coefficients[layer.first_gate + of];
      const int a_row = static_cast<int>(wires.sources & 0xFFFF);
      const int b_row = static_cast<int>(wires.sources >> 16);
      const int a_edge = static_cast<int>(wires.edges & 0xFFFF);
      const int b_edge = static_cast<int>(wires.edges >> 16);
      float4 sum = make_float4(0, 0, 0, 0);
      for (int j = lane; j < columns; j += 32) {
        const float g = perceived_gradient(args, block, l, of, j);
        const float a = x[a_row * columns + j];
        const float b = x[b_row * columns + j];
        sum = make_float4(sum.x + g, sum.y + g * a, sum.z + g * b, sum.w + g * a * b);
        edges[a_edge * columns + j] = g * fmaf(c.w, b, c.y);
        edges[b_edge * columns + j] = g * fmaf(c.w, a, c.z);
      }
      sum = summed_over_warp(sum);
      if (lane == 0) {
        Four<float>& all = block.sums[layer.first_gate + of];
        all = all + Four<float>{sum.x, sum.y, sum.z, sum.w};
      }
    }
    __syncthreads();
  }
}

}  // namespace boolgrad::cuda::automata
