// Heads whose outputs are stored before they are summed.
#include "boolgrad/backend/cuda/network/head.h"

#include "boolgrad/backend/cuda/network/rows.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;

/// A warp per part of a group and chunk of samples.
__global__ void __launch_bounds__(threads)
    sum_rows(const HeadOutputs head, const float* y, RowShape rows, float* scores) {
  const Group<32> at;
  const int part = blockIdx.x * warps + at.number;
  allow_next_launch();
  wait_for_previous();
  if (part >= head.groups * head.parts || !at.has_vector(rows)) return;
  const int per_group = head.outputs / head.groups;
  const int per_part = (per_group + head.parts - 1) / head.parts;
  const int first = part / head.parts * per_group;
  const int begin = first + part % head.parts * per_part;
  const int end = min(first + per_group, begin + per_part);
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
  for (int output = begin; output < end; ++output) {
    sum = each(sum, load(y, output, rows, at.vector), [](float p, float q) { return p + q; });
  }
  store(scores, part, rows, at.vector, sum);
}

/// A warp per output and chunk of samples.
__global__ void __launch_bounds__(threads)
    spread_gradients(const HeadOutputs head, const float* of_sums, RowShape rows, float* g) {
  const Group<32> at;
  const int output = blockIdx.x * warps + at.number;
  allow_next_launch();
  wait_for_previous();
  if (output >= head.outputs || !at.has_vector(rows)) return;
  const int group = output / (head.outputs / head.groups);
  store(g, output, rows, at.vector, load(of_sums, group, rows, at.vector));
}

}  // namespace

cudaError_t sum_outputs(const HeadOutputs& head, const float* y, RowShape rows, float* scores,
                        cudaStream_t stream) {
  return launch(sum_rows, grid(head.groups * head.parts, warps, rows), threads, 0, stream, head, y,
                rows, scores);
}

cudaError_t output_gradients(const HeadOutputs& head, const float* of_sums, RowShape rows, float* g,
                             cudaStream_t stream) {
  return launch(spread_gradients, grid(head.outputs, warps, rows), threads, 0, stream, head,
                of_sums, rows, g);
}

}  // namespace boolgrad::cuda
