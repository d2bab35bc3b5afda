// Losses of gate networks and their gradients, with the conventions of ops/loss.h.
#include "boolgrad/backend/cuda/common/loss.cuh"
#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/cuda/network/rows.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int max_blocks = 528;
constexpr int class_warps = 16;
constexpr int deviation_threads = 1024;

struct LossValue {
  float loss, slope;
};

__device__ __forceinline__ LossValue loss_at(const LossArguments& arguments, float y, float t) {
  return {loss_value(arguments.kind, arguments.gamma, y, t),
          loss_slope(arguments.kind, arguments.gamma, y, t)};
}

/// The index of a sample of the step in the data.
__device__ __forceinline__ std::size_t data_index(const LossArguments& arguments, int sample) {
  return arguments.chosen == nullptr ? static_cast<std::size_t>(sample)
                                     : static_cast<std::size_t>(arguments.chosen[sample]);
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

/// Above this, the sum of all parts could exceed a float.
constexpr double largest_part = 1e35;

__device__ __forceinline__ void store_loss(const LossArguments& arguments, double loss,
                                           double* losses) {
  losses[blockIdx.y * gridDim.x + blockIdx.x] = loss;
  if (!(fabs(loss) < largest_part)) {
    *arguments.not_finite = arguments.state->stamp;
  }
}

__global__ void __launch_bounds__(threads)
    loss_of_outputs(const LossArguments arguments, const float* y, RowShape rows, float* g,
                    double* losses) {
  allow_next_launch();
  wait_for_previous();
  double total = 0;
  const std::size_t count = static_cast<std::size_t>(arguments.outputs) * rows.stride;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x; i < count;
       i += gridDim.x * static_cast<std::size_t>(threads)) {
    const std::size_t output = i / rows.stride;
    const auto sample = static_cast<int>(i % rows.stride);
    float slope = 0;
    if (sample < rows.samples) {
      const LossValue value =
          loss_at(arguments, y[i],
                  arguments.targets[output * arguments.samples + data_index(arguments, sample)]);
      total += value.loss;
      slope = value.slope;
    }
    g[i] = slope;
  }
  total = block_sum<threads>(total);
  if (threadIdx.x == 0) store_loss(arguments, total, losses);
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

/// The score of the label minus the mean score. The scores of a sample are four floats apart.
__device__ __forceinline__ float above_mean(const LossArguments& arguments, const float* scores,
                                            int label) {
  float total = 0;
  for (int c = 0; c < arguments.groups; ++c) total += scores[c * 4];
  return scores[label * 4] - total / static_cast<float>(arguments.groups);
}

/// The sum of q (largest - score) over the classes, for soft targets q.
__device__ __forceinline__ float below_largest(const LossArguments& arguments, const float* scores,
                                               float largest, const float* soft_targets) {
  float total = 0;
  for (int c = 0; c < arguments.groups; ++c) total += soft_targets[c] * (largest - scores[c * 4]);
  return total;
}

/// Adds up the partial scores of four samples, one class per warp, and applies the softmax. The
/// loss is the mean over samples.
template <bool kHasTeacher>
__global__ void __launch_bounds__(class_warps * 32)
    loss_of_classes(const LossArguments arguments, RowShape rows, float* g, double* losses) {
  extern __shared__ float scores[];  // [classes, 4]
  const int lane = threadIdx.x % 32;
  const int sample = blockIdx.x * 4 + threadIdx.x % 4;
  const bool is_live = sample < rows.samples;
  const std::size_t index = is_live ? data_index(arguments, sample) : 0;
  const int label = arguments.labels[index];
  const float* soft_targets =
      kHasTeacher ? arguments.soft_targets + index * arguments.groups : nullptr;
  const float scale = arguments.state->score_scale;
  allow_next_launch();
  wait_for_previous();
  for (int c = threadIdx.x / 32; c < arguments.groups; c += class_warps) {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int part = lane; part < arguments.parts; part += 32) {
      const auto at = static_cast<std::size_t>(c * arguments.parts + part) * rows.stride;
      const float4 value = reinterpret_cast<const float4*>(arguments.scores + at)[blockIdx.x];
      sum = make_float4(sum.x + value.x, sum.y + value.y, sum.z + value.z, sum.w + value.w);
    }
    sum = sum_of_warp(sum);
    if (lane == 0) {
      reinterpret_cast<float4*>(scores)[c] =
          make_float4(sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale);
      if (arguments.sums != nullptr) store(arguments.sums, c, rows, blockIdx.x, sum);
    }
  }
  __syncthreads();
  const float* own = scores + threadIdx.x % 4;
  float largest = own[0];
  for (int c = 1; c < arguments.groups; ++c) largest = fmaxf(largest, own[c * 4]);
  float sum = 0;
  for (int c = 0; c < arguments.groups; ++c) sum += expf(own[c * 4] - largest);
  const float factor = is_live ? scale / static_cast<float>(rows.samples) : 0.0F;
  for (int c = threadIdx.x / 4; c < arguments.groups; c += class_warps * 8) {
    const float share = expf(own[c * 4] - largest) / sum;
    const float rest = arguments.smoothing / static_cast<float>(arguments.groups);
    float slope = share - rest - (c == label ? 1.0F - arguments.smoothing : 0.0F);
    if constexpr (kHasTeacher) {
      slope = (1 - arguments.teacher_weight) * slope +
              arguments.teacher_weight * (share - soft_targets[c]);
    }
    g[static_cast<std::size_t>(c) * rows.stride + sample] = factor * slope;
  }
  if (threadIdx.x >= 32) return;
  double loss = 0;
  if (threadIdx.x < 4 && is_live) {
    loss = static_cast<double>(largest) - own[label * 4] + logf(sum);
    if (arguments.smoothing > 0) loss += arguments.smoothing * above_mean(arguments, own, label);
    if constexpr (kHasTeacher) {
      const double of_teacher =
          static_cast<double>(below_largest(arguments, own, largest, soft_targets)) + logf(sum);
      loss = (1 - arguments.teacher_weight) * loss + arguments.teacher_weight * of_teacher;
    }
    loss /= rows.samples;
  }
  for (int step = 2; step > 0; step /= 2) loss += __shfl_xor_sync(0xffffffffU, loss, step);
  if (threadIdx.x == 0) store_loss(arguments, loss, losses);
}

/// The loss of the sum of a group, and its derivative. `largest` is the largest sum.
template <bool kHasVotes>
__device__ __forceinline__ LossValue loss_of_sum(const LossArguments& arguments, float sum,
                                                 float largest, int group, std::size_t index) {
  if constexpr (!kHasVotes) {
    const float target = (arguments.targets[index] - arguments.low) * arguments.per_range;
    const float off = sum / largest - target;
    return {off * off, 2 * off / largest};
  }
  // Two classes with logits -h and h, whose mean is 0.
  const bool is_one = ((arguments.labels[index] >> group) & 1) != 0;
  const float scale = arguments.state->score_scale;
  const float h = (sum - largest / 2) * (scale / 2);
  const float towards = is_one ? h : -h;
  const float plain = fmaxf(-2 * towards, 0.0F) + log1pf(expf(-2 * fabsf(h)));
  const float share = 1 / (1 + expf(-2 * h));
  const float wanted = (is_one ? 1 - arguments.smoothing : 0.0F) + arguments.smoothing / 2;
  return {plain + arguments.smoothing * towards, scale * (share - wanted)};
}

/// Adds up the partial sums of four samples of a group and computes their losses: one warp per
/// block. The loss is the mean over samples and groups.
template <bool kHasVotes>
__global__ void __launch_bounds__(32)
    loss_of_sums(const LossArguments arguments, RowShape rows, float* g, double* losses) {
  const int lane = threadIdx.x;
  const int group = blockIdx.y;
  const int sample = blockIdx.x * 4 + lane % 4;
  const bool is_live = sample < rows.samples;
  allow_next_launch();
  wait_for_previous();
  const std::size_t index = is_live ? data_index(arguments, sample) : 0;
  const float largest = arguments.largest_sums[group];
  float4 sums = make_float4(0, 0, 0, 0);
#pragma unroll 4
  for (int part = lane; part < arguments.parts; part += 32) {
    const auto at = static_cast<std::size_t>(group * arguments.parts + part) * rows.stride;
    const float4 value = reinterpret_cast<const float4*>(arguments.scores + at)[blockIdx.x];
    sums = make_float4(sums.x + value.x, sums.y + value.y, sums.z + value.z, sums.w + value.w);
  }
  sums = sum_of_warp(sums);
  const float sum = lane % 4 == 0   ? sums.x
                    : lane % 4 == 1 ? sums.y
                    : lane % 4 == 2 ? sums.z
                                    : sums.w;
  if (arguments.sums != nullptr && lane == 0) store(arguments.sums, group, rows, blockIdx.x, sums);
  const LossValue value = loss_of_sum<kHasVotes>(arguments, sum, largest, group, index);
  const int count = rows.samples * arguments.groups;
  if (lane < 4) {
    g[static_cast<std::size_t>(group) * rows.stride + sample] =
        is_live ? value.slope / static_cast<float>(count) : 0.0F;
  }
  double loss = lane < 4 && is_live ? static_cast<double>(value.loss) / count : 0.0;
  for (int step = 2; step > 0; step /= 2) loss += __shfl_xor_sync(0xffffffffU, loss, step);
  if (lane == 0) store_loss(arguments, loss, losses);
}

/// One thread per vector of a group's row.
__global__ void __launch_bounds__(threads)
    add_parts(const float* scores, int groups, int parts, RowShape rows, float* sums) {
  const int vector = blockIdx.x * threads + threadIdx.x;
  allow_next_launch();
  wait_for_previous();
  if (vector >= rows.vectors) return;
  const std::size_t row_vectors = static_cast<std::size_t>(rows.stride) / 4;
  for (int group = blockIdx.y; group < groups; group += gridDim.y) {
    const auto* from = reinterpret_cast<const float4*>(scores) +
                       static_cast<std::size_t>(group) * parts * row_vectors + vector;
    float4 sum = from[0];
    for (int part = 1; part < parts; ++part) {
      const float4 more = from[part * row_vectors];
      sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
    }
    reinterpret_cast<float4*>(sums)[group * row_vectors + vector] = sum;
  }
}

/// Calls `f` with the sums of a thread, out of [groups, stride].
template <class F>
__device__ __forceinline__ void for_own_sums(const float* sums, int groups, RowShape rows, F f) {
  const unsigned vectors = rows.vectors;
  for (unsigned i = threadIdx.x; i < groups * vectors; i += deviation_threads) {
    const auto first = static_cast<int>(i % vectors * 4);
    const float4 value = load(sums, i / vectors, rows, i % vectors);
    const float own[4] = {value.x, value.y, value.z, value.w};
    for (int k = 0; k < 4; ++k) {
      if (first + k < rows.samples) f(own[k]);
    }
  }
}

/// One block: the distances from the mean need the sum of all first.
__global__ void __launch_bounds__(deviation_threads)
    deviation(const float* sums, int groups, RowShape rows, StepOutcome* result) {
  allow_next_launch();
  wait_for_previous();
  const double count = static_cast<double>(groups) * rows.samples;
  double total = 0;
  for_own_sums(sums, groups, rows, [&](float sum) { total += sum; });
  const double mean = block_sum<deviation_threads>(total) / count;
  double squares = 0;
  for_own_sums(sums, groups, rows, [&](float sum) { squares += (sum - mean) * (sum - mean); });
  __syncthreads();  // all have read the first sum
  squares = block_sum<deviation_threads>(squares);
  if (threadIdx.x == 0) result->sum_deviation = sqrt(squares / count);
}

}  // namespace

cudaError_t add_score_parts(const float* scores, int groups, int parts, RowShape rows, float* sums,
                            cudaStream_t stream) {
  constexpr int max_rows = 4096;
  const dim3 blocks(static_cast<unsigned>((rows.vectors + threads - 1) / threads),
                    static_cast<unsigned>(groups < max_rows ? groups : max_rows));
  return launch(add_parts, blocks, threads, 0, stream, scores, groups, parts, rows, sums);
}

int loss_parts(const LossArguments& arguments, RowShape rows) {
  if (arguments.has_head) {
    return arguments.head == HeadKind::classes ? rows.vectors : rows.vectors * arguments.groups;
  }
  const std::size_t count = static_cast<std::size_t>(arguments.outputs) * rows.stride;
  const std::size_t blocks = (count + threads - 1) / threads;
  return static_cast<int>(blocks < max_blocks ? blocks : max_blocks);
}

cudaError_t loss_and_gradient(const LossArguments& arguments, const float* y, RowShape rows,
                              float* g, double* losses, int loss_count, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(loss_count));
  if (!arguments.has_head) {
    return launch(loss_of_outputs, blocks, threads, 0, stream, arguments, y, rows, g, losses);
  }
  if (arguments.head == HeadKind::classes) {
    return launch(
        arguments.soft_targets != nullptr ? loss_of_classes<true> : loss_of_classes<false>, blocks,
        class_warps * 32, static_cast<std::size_t>(arguments.groups) * sizeof(float4), stream,
        arguments, rows, g, losses);
  }
  const dim3 by_group(static_cast<unsigned>(rows.vectors), static_cast<unsigned>(arguments.groups));
  return launch(arguments.head == HeadKind::regression ? loss_of_sums<false> : loss_of_sums<true>,
                by_group, 32, 0, stream, arguments, rows, g, losses);
}

cudaError_t deviation_of_sums(const float* sums, int groups, RowShape rows, StepOutcome* result,
                              cudaStream_t stream) {
  return launch(deviation, dim3(1), deviation_threads, 0, stream, sums, groups, rows, result);
}

}  // namespace boolgrad::cuda
