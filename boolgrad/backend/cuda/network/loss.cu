// Losses of gate networks and their gradients, with the conventions of ops/loss.h.
#include "boolgrad/backend/cuda/runtime/launch.cuh"
#include "boolgrad/backend/cuda/common/loss.cuh"
#include "boolgrad/backend/cuda/network/arguments.h"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int most_blocks = 528;
constexpr int class_warps = 16;

struct LossValue {
  float loss, slope;
};

__device__ __forceinline__ LossValue loss_at(const LossCode& code, float y, float t) {
  return {loss_value(code.form, code.gamma, y, t), loss_slope(code.form, code.gamma, y, t)};
}

/// The case that a sample is.
__device__ __forceinline__ std::size_t case_of(const LossCode& code, int sample) {
  return code.picked == nullptr ? code.first + sample
                                : static_cast<std::size_t>(code.picked[sample]);
}

/// The sum over the threads of a block, in a fixed order.
template <int kThreads>
__device__ double block_sum(double value) {
  __shared__ double sums[kThreads];
  sums[threadIdx.x] = value;
  for (int step = kThreads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  __syncthreads();
  return sums[0];
}

/// Beyond this the sum of all parts could exceed a float.
constexpr double largest_part = 1e35;

__device__ __forceinline__ void store_loss(const LossCode& code, double loss, double* losses) {
  losses[blockIdx.x] = loss;
  if (code.not_finite != nullptr && !(fabs(loss) < largest_part)) {
    *code.not_finite = code.state->stamp;
  }
}

__global__ void __launch_bounds__(threads)
    loss_of_outputs(const LossCode code, const float* y, Rows rows, float* g, double* losses) {
  let_next_begin();
  wait_for_previous();
  double total = 0;
  const std::size_t count = static_cast<std::size_t>(code.outputs) * rows.stride;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x; i < count;
       i += gridDim.x * static_cast<std::size_t>(threads)) {
    const std::size_t output = i / rows.stride;
    const auto sample = static_cast<int>(i % rows.stride);
    float slope = 0;
    if (sample < rows.samples) {
      const LossValue value =
          loss_at(code, y[i], code.targets[output * code.cases + case_of(code, sample)]);
      total += value.loss;
      slope = value.slope;
    }
    if (g != nullptr) g[i] = slope;
  }
  total = block_sum<threads>(total);
  if (threadIdx.x == 0) store_loss(code, total, losses);
}

__device__ __forceinline__ float4 sum_of_warp(float4 sum) {
  for (int step = 16; step > 0; step /= 2) {
    sum.x += __shfl_xor_sync(0xffffffffU, sum.x, step);
    sum.y += __shfl_xor_sync(0xffffffffU, sum.y, step);
    sum.z += __shfl_xor_sync(0xffffffffU, sum.z, step);
    sum.w += __shfl_xor_sync(0xffffffffU, sum.w, step);
  }
  return sum;
}

/// By how much the score of the label exceeds the mean of all; the scores of a sample lie four
/// apart.
__device__ __forceinline__ float above_mean(const LossCode& code, const float* scores, int label) {
  float total = 0;
  for (int c = 0; c < code.classes; ++c) total += scores[c * 4];
  return scores[label * 4] - total / static_cast<float>(code.classes);
}

__device__ __forceinline__ int first_largest(const LossCode& code, const float* scores,
                                             float largest) {
  int c = 0;
  while (c + 1 < code.classes && scores[c * 4] < largest) ++c;
  return c;
}

/// Adds up the parts of four samples' scores, a class a warp, and takes the softmax of each sample.
/// The loss is the mean over the samples.
__global__ void __launch_bounds__(class_warps * 32)
    loss_of_classes(const LossCode code, Rows rows, float* g, double* losses) {
  extern __shared__ float scores[];  // [classes, 4]
  const int lane = threadIdx.x % 32;
  const int sample = blockIdx.x * 4 + threadIdx.x % 4;
  const bool is_there = sample < rows.samples;
  const int label = code.labels[is_there ? case_of(code, sample) : 0];
  let_next_begin();
  wait_for_previous();
  for (int c = threadIdx.x / 32; c < code.classes; c += class_warps) {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int part = lane; part < code.parts; part += 32) {
      const auto at = static_cast<std::size_t>(c * code.parts + part) * rows.stride;
      const float4 value = reinterpret_cast<const float4*>(code.scores + at)[blockIdx.x];
      sum = make_float4(sum.x + value.x, sum.y + value.y, sum.z + value.z, sum.w + value.w);
    }
    sum = sum_of_warp(sum);
    if (lane == 0) {
      reinterpret_cast<float4*>(scores)[c] = make_float4(sum.x * code.scale, sum.y * code.scale,
                                                         sum.z * code.scale, sum.w * code.scale);
    }
  }
  __syncthreads();
  const float* own = scores + threadIdx.x % 4;
  float largest = own[0];
  for (int c = 1; c < code.classes; ++c) largest = fmaxf(largest, own[c * 4]);
  float sum = 0;
  for (int c = 0; c < code.classes; ++c) sum += expf(own[c * 4] - largest);
  if (g != nullptr) {
    const float factor = is_there ? code.scale / static_cast<float>(code.mean_over) : 0.0F;
    for (int c = threadIdx.x / 4; c < code.classes; c += class_warps * 8) {
      const float share = expf(own[c * 4] - largest) / sum;
      const float rest = code.smoothing / static_cast<float>(code.classes);
      g[static_cast<std::size_t>(c) * rows.stride + sample] =
          factor * (share - rest - (c == label ? 1.0F - code.smoothing : 0.0F));
    }
  }
  if (threadIdx.x >= 32) return;
  double loss = 0;
  if (threadIdx.x < 4 && is_there) {
    loss = static_cast<double>(largest) - own[label * 4] + logf(sum);
    if (code.smoothing > 0) loss += code.smoothing * above_mean(code, own, label);
    loss /= code.mean_over;
    if (code.predicted != nullptr) code.predicted[sample] = first_largest(code, own, largest);
  }
  for (int step = 2; step > 0; step /= 2) loss += __shfl_xor_sync(0xffffffffU, loss, step);
  if (threadIdx.x == 0) store_loss(code, loss, losses);
}

}  // namespace

int loss_parts(bool has_classes, int outputs, Rows rows) {
  if (has_classes) return rows.vectors;
  const std::size_t count = static_cast<std::size_t>(outputs) * rows.stride;
  const std::size_t blocks = (count + threads - 1) / threads;
  return static_cast<int>(blocks < most_blocks ? blocks : most_blocks);
}

cudaError_t loss_and_gradient(const LossCode& code, const float* y, Rows rows, float* g,
                              double* losses, int loss_count, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(loss_count));
  if (code.has_classes) {
    return launch(loss_of_classes, blocks, class_warps * 32,
                  static_cast<std::size_t>(code.classes) * sizeof(float4), stream, code, rows, g,
                  losses);
  }
  return launch(loss_of_outputs, blocks, threads, 0, stream, code, y, rows, g, losses);
}

}  // namespace boolgrad::cuda
