// Heads whose outputs are stored before they are summed, and the weights of their outputs.
#include "boolgrad/backend/cuda/network/head.h"

#include "boolgrad/backend/cuda/network/rows.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr float ln2 = 0.693147181F;

__device__ __forceinline__ int weight_of(float exponent, float max_exponent) {
  const float limited = fminf(fmaxf(exponent, 0.0F), max_exponent);
  const float whole = floorf(limited);
  // Adding 0.5 first would round up the number below it.
  return 1 << static_cast<int>(limited - whole < 0.5F ? whole : whole + 1);
}

/// A block per group.
__global__ void __launch_bounds__(threads) weigh(const PowerWeights arguments) {
  __shared__ int sums[threads];
  const int per_group = arguments.outputs / arguments.groups;
  const int first = blockIdx.x * per_group;
  allow_next_launch();
  wait_for_previous();
  int sum = 0;
  for (int output = first + threadIdx.x; output < first + per_group; output += threads) {
    const int weight = weight_of(arguments.exponents[output], arguments.max_exponent);
    arguments.weights[output] = static_cast<float>(weight);
    sum += weight;
  }
  sums[threadIdx.x] = sum;
  for (int step = threads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  if (threadIdx.x == 0) arguments.largest_sums[blockIdx.x] = static_cast<float>(sums[0]);
}

/// A warp per part of a group and chunk of samples.
template <bool kWeighs>
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
    const float weight = kWeighs ? head.weights[output] : 1.0F;
    sum = each(sum, load(y, output, rows, at.vector),
               [weight](float p, float q) { return kWeighs ? fmaf(weight, q, p) : p + q; });
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

/// From the gradient of a weight 2^e to that of the exponent: that of 2^x at the rounded exponent,
/// or 0 if the exponent would move further outside of its limits.
__device__ __forceinline__ float exponent_gradient(const PowerWeights& trained, int output,
                                                   float gradient) {
  const float exponent = trained.exponents[output];
  const bool leaves =
      (exponent <= 0 && gradient > 0) || (exponent >= trained.max_exponent && gradient < 0);
  return leaves ? 0.0F : gradient * trained.weights[output] * ln2;
}

/// A warp per output, so that the samples are summed in a fixed order.
template <bool kTrains>
__global__ void __launch_bounds__(threads)
    weigh_gradients(const HeadBackward arguments, RowShape rows) {
  const HeadOutputs& head = arguments.head;
  const int output = blockIdx.x * warps + threadIdx.x / 32;
  allow_next_launch();
  wait_for_previous();
  if (output >= head.outputs) return;
  const int group = output / (head.outputs / head.groups);
  const float weight = head.weights[output];
  const bool is_share = kTrains && arguments.sums != nullptr;
  const float per_largest = is_share ? 1 / arguments.trained.largest_sums[group] : 0.0F;
  float4 total = make_float4(0, 0, 0, 0);
  for (unsigned vector = threadIdx.x % 32; vector < static_cast<unsigned>(rows.vectors);
       vector += 32) {
    const float4 slope = load(arguments.of_sums, group, rows, vector);
    store(arguments.g, output, rows, vector,
          make_float4(weight * slope.x, weight * slope.y, weight * slope.z, weight * slope.w));
    if constexpr (kTrains) {
      float4 share = make_float4(arguments.vote_share, arguments.vote_share, arguments.vote_share,
                                 arguments.vote_share);
      if (is_share) {
        const float4 sum = load(arguments.sums, group, rows, vector);
        share = make_float4(sum.x * per_largest, sum.y * per_largest, sum.z * per_largest,
                            sum.w * per_largest);
      }
      const float4 off = each(load(arguments.y, output, rows, vector), share,
                              [](float p, float q) { return p - q; });
      total = each(total, each(slope, off, [](float p, float q) { return p * q; }),
                   [](float p, float q) { return p + q; });
    }
  }
  if constexpr (kTrains) {
    float sum = (total.x + total.y) + (total.z + total.w);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    if (threadIdx.x % 32 != 0) return;
    const float gradient = exponent_gradient(arguments.trained, output, sum);
    arguments.gradients[output] = gradient;
    if (!(fabsf(gradient) < largest_sum)) *arguments.not_finite = arguments.state->stamp;
  }
}

unsigned blocks_for(int outputs) { return static_cast<unsigned>((outputs + warps - 1) / warps); }

}  // namespace

cudaError_t make_weights(const PowerWeights& arguments, cudaStream_t stream) {
  return launch(weigh, dim3(static_cast<unsigned>(arguments.groups)), threads, 0, stream,
                arguments);
}

cudaError_t sum_outputs(const HeadOutputs& head, const float* y, RowShape rows, float* scores,
                        cudaStream_t stream) {
  return launch(head.weights != nullptr ? sum_rows<true> : sum_rows<false>,
                grid(head.groups * head.parts, warps, rows), threads, 0, stream, head, y, rows,
                scores);
}

cudaError_t output_gradients(const HeadBackward& arguments, RowShape rows, cudaStream_t stream) {
  const HeadOutputs& head = arguments.head;
  if (head.weights == nullptr) {
    return launch(spread_gradients, grid(head.outputs, warps, rows), threads, 0, stream, head,
                  arguments.of_sums, rows, arguments.g);
  }
  const bool trains = arguments.trained.exponents != nullptr;
  return launch(trains ? weigh_gradients<true> : weigh_gradients<false>,
                dim3(blocks_for(head.outputs)), threads, 0, stream, arguments, rows);
}

}  // namespace boolgrad::cuda
