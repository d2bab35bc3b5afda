// Convolutions layer by layer: tables that gates share, and pooling.
#include "boolgrad/backend/cuda/network/convolution.h"
#include "boolgrad/backend/cuda/network/rows.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;

/// One thread per coefficient of a gate. Those that an input outside of the image multiplies are 0.
__global__ void __launch_bounds__(threads)
    copy_coefficients(const SharedTables shared, const float* coefficients, float* expanded) {
  allow_next_launch();
  wait_for_previous();
  const std::size_t at = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  const std::size_t gate = at >> shared.arity;
  if (gate >= static_cast<std::size_t>(shared.tables) * shared.positions) return;
  const std::size_t entry = at & ((std::size_t{1} << shared.arity) - 1);
  const std::size_t zeros = shared.outside == nullptr ? 0 : shared.outside[gate];
  expanded[shared.first_expanded + at] =
      (entry & zeros) != 0
          ? 0.0F
          : coefficients[shared.first_entry + (gate / shared.positions << shared.arity) + entry];
}

/// A warp per coefficient of a table, its lanes over the gates.
__global__ void __launch_bounds__(threads) add_gates(const SharedSums arguments) {
  allow_next_launch();
  wait_for_previous();
  const SharedTables& shared = arguments.tables;
  const std::size_t at = blockIdx.x * static_cast<std::size_t>(warps) + threadIdx.x / 32;
  const std::size_t table = at >> shared.arity;
  if (table >= static_cast<std::size_t>(shared.tables)) return;
  const std::size_t entry = at & ((std::size_t{1} << shared.arity) - 1);
  const float* from =
      arguments.expanded + blockIdx.y * arguments.expanded_entries + shared.first_expanded;
  const int lane = threadIdx.x % 32;
  float sum = 0;
  for (int p = lane; p < shared.positions; p += 32) {
    const std::size_t gate = table * shared.positions + p;
    const std::size_t zeros = shared.outside == nullptr ? 0 : shared.outside[gate];
    if ((entry & zeros) == 0) sum += from[(gate << shared.arity) + entry];
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  if (lane != 0) return;
  arguments.sums[blockIdx.y * arguments.entries + shared.first_entry + at] = sum;
  if (!(fabsf(sum) < largest_sum)) *arguments.not_finite = arguments.state->stamp;
}

__device__ __forceinline__ float4 largest_of(float4 a, float4 b) {
  return each(a, b, [](float p, float q) { return q > p ? q : p; });
}

/// The maximum of the inputs of a gate.
__device__ __forceinline__ float4 pooled(const NetworkLayer& layer, int gate, const float* x,
                                         RowShape rows, unsigned vector) {
  const int* sources = layer.source_rows + static_cast<std::size_t>(gate) * layer.arity;
  float4 largest = load(x, sources[0], rows, vector);
  for (int k = 1; k < layer.arity; ++k) {
    largest = largest_of(largest, load(x, sources[k], rows, vector));
  }
  return largest;
}

/// A warp per gate and chunk of samples.
__global__ void __launch_bounds__(threads)
    forward_pools(const NetworkLayer layer, const float* x, RowShape rows, float* y) {
  const Group<32> group;
  const int gate = blockIdx.x * warps + group.number;
  allow_next_launch();
  wait_for_previous();
  if (gate >= layer.gates || !group.has_vector(rows)) return;
  store(y, layer.output_rows[gate], rows, group.vector, pooled(layer, gate, x, rows, group.vector));
}

/// 1 where an input is the maximum.
__device__ __forceinline__ float4 wins(float4 input, float4 largest) {
  return each(input, largest, [](float p, float q) { return p == q ? 1.0F : 0.0F; });
}

/// A warp per input and chunk of samples.
__global__ void __launch_bounds__(threads)
    backward_pools(const NetworkLayer layer, const float* x, const float* g, RowShape rows,
                   float* gx) {
  const Group<32> group;
  const int input = blockIdx.x * warps + group.number;
  allow_next_launch();
  wait_for_previous();
  if (input >= layer.inputs || !group.has_vector(rows)) return;
  const auto add = [](float p, float q) { return p + q; };
  const float4 own = load(x, input, rows, group.vector);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = layer.first_reader[input]; i < layer.first_reader[input + 1]; ++i) {
    const int gate = layer.readers[i].gate;
    const int* sources = layer.source_rows + static_cast<std::size_t>(gate) * layer.arity;
    const float4 largest = pooled(layer, gate, x, rows, group.vector);
    float4 winners = make_float4(0, 0, 0, 0);
    for (int k = 0; k < layer.arity; ++k) {
      winners = each(winners, wins(load(x, sources[k], rows, group.vector), largest), add);
    }
    const float4 upstream = load(g, layer.gradient_rows[gate], rows, group.vector);
    const float4 share = each(upstream, winners, [](float p, float q) { return p / q; });
    const float4 won = wins(own, largest);
    sum = each(sum, each(won, share, [](float p, float q) { return p != 0 ? q : 0.0F; }), add);
  }
  store(gx, input, rows, group.vector, sum);
}

unsigned blocks_for(std::size_t count, int per_block) {
  return static_cast<unsigned>((count + static_cast<std::size_t>(per_block) - 1) /
                               static_cast<std::size_t>(per_block));
}

std::size_t entries_of(const SharedTables& tables) {
  return static_cast<std::size_t>(tables.tables) << tables.arity;
}

}  // namespace

cudaError_t expand_coefficients(const SharedTables& tables, const float* coefficients,
                                float* expanded, cudaStream_t stream) {
  const std::size_t count = entries_of(tables) * static_cast<std::size_t>(tables.positions);
  return launch(copy_coefficients, blocks_for(count, threads), threads, 0, stream, tables,
                coefficients, expanded);
}

cudaError_t add_shared_sums(const SharedSums& arguments, RowShape rows, cudaStream_t stream) {
  const dim3 blocks(blocks_for(entries_of(arguments.tables), warps),
                    static_cast<unsigned>(rows.chunks));
  return launch(add_gates, blocks, threads, 0, stream, arguments);
}

cudaError_t pool_forward(const NetworkLayer& layer, const float* x, RowShape rows, float* y,
                         cudaStream_t stream) {
  return launch(forward_pools, grid(layer.gates, warps, rows), threads, 0, stream, layer, x, rows,
                y);
}

cudaError_t pool_backward(const NetworkLayer& layer, const float* x, const float* g, RowShape rows,
                          float* gx, cudaStream_t stream) {
  return launch(backward_pools, grid(layer.inputs, warps, rows), threads, 0, stream, layer, x, g,
                rows, gx);
}

}  // namespace boolgrad::cuda
