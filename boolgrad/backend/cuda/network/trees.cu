// Convolutions of two-input gates, all levels of a tree and its pooling at once.
#include <type_traits>

#include "boolgrad/backend/cuda/network/convolution.h"
#include "boolgrad/backend/cuda/network/rows.cuh"
#include "boolgrad/backend/cuda/optimiser/update.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 128;
constexpr int flat_threads = 256;
static_assert(max_tree_levels == 4);

__device__ __forceinline__ float4 zero4() { return make_float4(0, 0, 0, 0); }

/// The nodes of a tree are its leaves, then its gates, level by level: gate g is node leaves + g
/// and reads nodes 2 g and 2 g + 1. All indices are compile-time constants once loops are unrolled,
/// so that nodes are in registers.
template <int kLevels>
struct Tree {
  static constexpr int leaves = 1 << kLevels;
  static constexpr int gates = leaves - 1;
  static constexpr int root = leaves + gates - 1;

  /// The number of gates below level `level`.
  __host__ __device__ static constexpr int gates_below(int level) {
    return leaves - (leaves >> level);
  }
  __host__ __device__ static constexpr int level_of(int gate) {
    return (gate >= gates_below(1) ? 1 : 0) + (gate >= gates_below(2) ? 1 : 0) +
           (gate >= gates_below(3) ? 1 : 0);
  }

  /// Where the polynomial of a gate of a kernel is among those of its level.
  static __device__ __forceinline__ std::size_t place(int kernel, int gate) {
    const int level = level_of(gate);
    return static_cast<std::size_t>(kernel) * (leaves >> (level + 1)) + (gate - gates_below(level));
  }
};

/// The polynomials of the gates of a kernel.
template <int kLevels>
struct KernelGates {
  const float4* levels[kLevels];

  __device__ __forceinline__ KernelGates(const TreeStage& stage, const float* coefficients,
                                         int kernel) {
#pragma unroll
    for (int level = 0; level < kLevels; ++level) {
      levels[level] = reinterpret_cast<const float4*>(coefficients + stage.first_entry[level]) +
                      static_cast<std::size_t>(kernel) * (Tree<kLevels>::leaves >> (level + 1));
    }
  }
  __device__ __forceinline__ float4 at(int gate) const {
    const int level = Tree<kLevels>::level_of(gate);
    return levels[level][gate - Tree<kLevels>::gates_below(level)];
  }
};

/// The rows that the leaves of a root read.
template <int kLevels>
struct LeafRows {
  int row[1 << kLevels];

  __device__ __forceinline__ LeafRows(const TreeStage& stage, int position, int k) {
    constexpr int leaves = 1 << kLevels;
    const std::size_t first = (static_cast<std::size_t>(position) * stage.pool + k) * leaves;
    if constexpr (kLevels == 1) {
      const int2 pair = *reinterpret_cast<const int2*>(stage.leaves + first);
      row[0] = pair.x;
      row[1] = pair.y;
    } else {
#pragma unroll
      for (int i = 0; i < leaves; i += 4) {
        const int4 four = *reinterpret_cast<const int4*>(stage.leaves + first + i);
        row[i] = four.x;
        row[i + 1] = four.y;
        row[i + 2] = four.z;
        row[i + 3] = four.w;
      }
    }
  }
};

/// All nodes at a thread's samples. The samples must exist.
template <int kLevels>
__device__ __forceinline__ void evaluate(const KernelGates<kLevels>& gates,
                                         const LeafRows<kLevels>& leaves, const float* x,
                                         RowShape rows, unsigned vector,
                                         float4 (&node)[Tree<kLevels>::root + 1]) {
  using T = Tree<kLevels>;
#pragma unroll
  for (int i = 0; i < T::leaves; ++i) {
    node[i] = leaves.row[i] < 0 ? zero4() : load(x, leaves.row[i], rows, vector);
  }
#pragma unroll
  for (int g = 0; g < T::gates; ++g) {
    node[T::leaves + g] = soft_gates(gates.at(g), node[2 * g], node[2 * g + 1]);
  }
}

/// The maximum of the roots so far, and which of them it is: bit k of byte i for sample i.
struct Maximum {
  float4 value;
  unsigned winners;

  __device__ __forceinline__ explicit Maximum(float4 first) : value(first), winners(0x01010101U) {}

  __device__ __forceinline__ void add(float4 root, int k) {
    value.x = added(value.x, root.x, 1U << k, 0);
    value.y = added(value.y, root.y, 1U << k, 8);
    value.z = added(value.z, root.z, 1U << k, 16);
    value.w = added(value.w, root.w, 1U << k, 24);
  }

 private:
  __device__ __forceinline__ float added(float largest, float root, unsigned bit, int shift) {
    if (root > largest) winners &= ~(0xffU << shift);
    if (root >= largest) winners |= bit << shift;
    return root > largest ? root : largest;
  }
};

template <int kLevels, int kLanes>
__global__ void __launch_bounds__(threads)
    forward_trees(const TreeStage stage, const float* coefficients, const float* x, RowShape rows,
                  float* y, std::uint32_t* winners) {
  using T = Tree<kLevels>;
  const Group<kLanes, threads> group;
  const int position = blockIdx.x * Group<kLanes, threads>::per_block + group.number;
  allow_next_launch();
  wait_for_previous();
  if (position >= stage.outputs || !group.has_vector(rows)) return;
  const KernelGates<kLevels> gates(stage, coefficients, stage.kernel_of[position]);
  float4 node[T::root + 1];
  evaluate<kLevels>(gates, LeafRows<kLevels>(stage, position, 0), x, rows, group.vector, node);
  Maximum maximum(node[T::root]);
  for (int k = 1; k < stage.pool; ++k) {
    evaluate<kLevels>(gates, LeafRows<kLevels>(stage, position, k), x, rows, group.vector, node);
    maximum.add(node[T::root], k);
  }
  store(y, stage.rows[position], rows, group.vector, maximum.value);
  if (winners != nullptr && stage.pool > 1) {
    winners[vector_index(position, rows, group.vector)] = maximum.winners;
  }
}

/// The gradient that each winner among the roots of a sample receives.
__device__ __forceinline__ float shared(float g, unsigned winners, int shift) {
  return g / static_cast<float>(__popc((winners >> shift) & 0xffU));
}

__device__ __forceinline__ float4 gradient_of_root(float4 share, unsigned winners, int k) {
  const unsigned wins = winners >> k;
  return make_float4((wins & 1U) != 0 ? share.x : 0, (wins & 0x100U) != 0 ? share.y : 0,
                     (wins & 0x10000U) != 0 ? share.z : 0, (wins & 0x1000000U) != 0 ? share.w : 0);
}

/// From the gradient of the root, in its node, to those of all nodes, in place. Adds the sums of
/// every gate.
template <int kLevels>
__device__ __forceinline__ void differentiate(const KernelGates<kLevels>& gates,
                                              float4 (&node)[Tree<kLevels>::root + 1],
                                              float (&sums)[4 * Tree<kLevels>::gates]) {
  using T = Tree<kLevels>;
#pragma unroll
  for (int gate = T::gates - 1; gate >= 0; --gate) {
    const float4 c = gates.at(gate);
    const float4 g = node[T::leaves + gate];
    const float4 a = node[2 * gate];
    const float4 b = node[2 * gate + 1];
    const PairSums own(g, a, b);
    sums[4 * gate] += own.total.x;
    sums[4 * gate + 1] += own.total.y;
    sums[4 * gate + 2] += own.total.z;
    sums[4 * gate + 3] += own.total.w;
    node[2 * gate] = each(g, b, [c](float p, float q) { return p * fmaf(c.w, q, c.y); });
    node[2 * gate + 1] = each(g, a, [c](float p, float q) { return p * fmaf(c.w, q, c.z); });
  }
}

/// Blocks per multiprocessor, for as many registers as a tree needs.
constexpr int blocks_of(int levels) { return levels < 3 ? 5 : levels == 3 ? 3 : 2; }

/// A group of lanes takes a section. Its sums stay in registers over all outputs and samples.
template <int kLevels, int kLanes, bool kStores>
__global__ void __launch_bounds__(threads, blocks_of(kLevels))
    backward_trees(const TreeBackward arguments, RowShape rows) {
  using T = Tree<kLevels>;
  const TreeStage& stage = arguments.stage;
  const Group<kLanes, threads> group;
  const int number = blockIdx.x * Group<kLanes, threads>::per_block + group.number;
  const bool is_live = number < stage.section_count;
  allow_next_launch();
  wait_for_previous();
  float sums[4 * T::gates] = {};
  if (is_live && group.has_vector(rows)) {
    const TreeSection section = stage.sections[number];
    const KernelGates<kLevels> gates(stage, arguments.coefficients, section.kernel);
#pragma unroll 1
    for (int position = section.begin; position < section.end; ++position) {
      const float4 g = load(arguments.g, stage.rows[position], rows, group.vector);
      const unsigned winners = stage.pool > 1
                                   ? arguments.winners[vector_index(position, rows, group.vector)]
                                   : 0x01010101U;
      const float4 share = make_float4(shared(g.x, winners, 0), shared(g.y, winners, 8),
                                       shared(g.z, winners, 16), shared(g.w, winners, 24));
#pragma unroll 1
      for (int k = 0; k < stage.pool; ++k) {
        const LeafRows<kLevels> leaves(stage, position, k);
        float4 node[T::root + 1];
        evaluate<kLevels>(gates, leaves, arguments.x, rows, group.vector, node);
        node[T::root] = gradient_of_root(share, winners, k);
        differentiate<kLevels>(gates, node, sums);
        if constexpr (kStores) {
          const std::size_t row_vectors = static_cast<std::size_t>(rows.stride) / 4;
          float4* to =
              reinterpret_cast<float4*>(arguments.leaf_gradients) +
              (static_cast<std::size_t>(position) * stage.pool + k) * T::leaves * row_vectors +
              group.vector;
#pragma unroll
          for (int i = 0; i < T::leaves; ++i) {
            if (leaves.row[i] >= 0) to[i * row_vectors] = node[i];
          }
        }
      }
    }
  }
  const int lane = threadIdx.x % kLanes;
  float* to = arguments.partial_sums +
              (static_cast<std::size_t>(blockIdx.y) * stage.section_count + number) * 4 * T::gates;
#pragma unroll
  for (int gate = 0; gate < T::gates; ++gate) {
    int which = 0;
    const float sum = sum_over_lanes<kLanes>(
        make_float4(sums[4 * gate], sums[4 * gate + 1], sums[4 * gate + 2], sums[4 * gate + 3]),
        lane, which);
    if (is_live && lane % (kLanes / 4) == 0) to[4 * gate + which] = sum;
  }
}

/// Adds up the sections of every kernel, in order: a thread per sum.
template <int kLevels>
__global__ void __launch_bounds__(flat_threads) add_sections(const TreeBackward arguments) {
  using T = Tree<kLevels>;
  constexpr int tree_sums = 4 * T::gates;
  const TreeStage& stage = arguments.stage;
  const int at = blockIdx.x * flat_threads + threadIdx.x;
  const int kernel = at / tree_sums;
  allow_next_launch();
  wait_for_previous();
  if (kernel >= stage.kernels) return;
  const int gate = at % tree_sums / 4;
  const int level = T::level_of(gate);
  const std::size_t entry = stage.first_entry[level] + T::place(kernel, gate) * 4 + at % 4;
  const float* from = arguments.partial_sums +
                      static_cast<std::size_t>(blockIdx.y) * stage.section_count * tree_sums +
                      at % tree_sums;
  float sum = 0;
  for (int s = stage.first_section[kernel]; s < stage.first_section[kernel + 1]; ++s) {
    sum += from[static_cast<std::size_t>(s) * tree_sums];
  }
  arguments.sums[blockIdx.y * arguments.entries + entry] = sum;
  if (!(fabsf(sum) < largest_sum) || !is_finite(arguments.coefficients[entry])) {
    *arguments.not_finite = arguments.state->stamp;
  }
}

/// Gradients of inputs, summed over the leaves that read them.
template <int kLanes>
__global__ void __launch_bounds__(threads)
    gather_leaves(const TreeBackward arguments, RowShape rows) {
  const TreeStage& stage = arguments.stage;
  const Group<kLanes, threads> group;
  const int input = blockIdx.x * Group<kLanes, threads>::per_block + group.number;
  allow_next_launch();
  wait_for_previous();
  if (input >= stage.inputs || !group.has_vector(rows)) return;
  const std::size_t row_vectors = static_cast<std::size_t>(rows.stride) / 4;
  const auto* from = reinterpret_cast<const float4*>(arguments.leaf_gradients) + group.vector;
  const int end = stage.first_leaf_row[input + 1];
  float4 sum = zero4();
#pragma unroll 4
  for (int i = stage.first_leaf_row[input]; i < end; ++i) {
    sum = each(sum, from[stage.leaf_rows[i] * row_vectors], [](float p, float q) { return p + q; });
  }
  store(arguments.gx, input, rows, group.vector, sum);
}

template <class F>
cudaError_t with_levels(int levels, F f) {
  switch (levels) {
    case 1: return f(std::integral_constant<int, 1>{});
    case 2: return f(std::integral_constant<int, 2>{});
    case 3: return f(std::integral_constant<int, 3>{});
    default: return f(std::integral_constant<int, 4>{});
  }
}

}  // namespace

cudaError_t trees_forward(const TreeStage& stage, const float* coefficients, const float* x,
                          RowShape rows, float* y, std::uint32_t* winners, cudaStream_t stream) {
  return with_levels(stage.levels, [&](auto levels) {
    return with_lanes(rows, [&](auto lanes) {
      return launch(forward_trees<levels.value, lanes.value>,
                    grid(stage.outputs, threads / lanes.value, rows), threads, 0, stream, stage,
                    coefficients, x, rows, y, winners);
    });
  });
}

cudaError_t trees_backward(const TreeBackward& arguments, RowShape rows, cudaStream_t stream) {
  const TreeStage& stage = arguments.stage;
  cudaError_t error = with_levels(stage.levels, [&](auto levels) {
    return with_lanes(rows, [&](auto lanes) {
      const dim3 blocks = grid(stage.section_count, threads / lanes.value, rows);
      return launch(arguments.leaf_gradients != nullptr
                        ? backward_trees<levels.value, lanes.value, true>
                        : backward_trees<levels.value, lanes.value, false>,
                    blocks, threads, 0, stream, arguments, rows);
    });
  });
  if (error != cudaSuccess) return error;
  error = with_levels(stage.levels, [&](auto levels) {
    const int sums = 4 * Tree<levels.value>::gates * stage.kernels;
    return launch(add_sections<levels.value>, grid(sums, flat_threads, rows), flat_threads, 0,
                  stream, arguments);
  });
  if (error != cudaSuccess || arguments.leaf_gradients == nullptr) return error;
  return with_lanes(rows, [&](auto lanes) {
    return launch(gather_leaves<lanes.value>, grid(stage.inputs, threads / lanes.value, rows),
                  threads, 0, stream, arguments, rows);
  });
}

}  // namespace boolgrad::cuda
