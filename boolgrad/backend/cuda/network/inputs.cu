// Inputs of gate networks: rows of samples, or bits of their features, whose thresholds may be
// trained.
#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/cuda/optimiser/update.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;

__device__ __forceinline__ std::size_t sample_at(const SampleChoice& choice, int sample) {
  return choice.chosen == nullptr ? choice.first + sample
                                  : static_cast<std::size_t>(choice.chosen[sample]);
}

__global__ void gather_rows(const SampleInputs from, const SampleChoice choice, RowShape rows,
                            float* x) {
  const int sample = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_begin();
  wait_for_previous();
  if (sample >= rows.stride) return;
  const bool is_there = sample < rows.samples;
  const std::size_t at = is_there ? sample_at(choice, sample) : 0;
  for (int input = blockIdx.y; input < from.inputs; input += gridDim.y) {
    const float value = is_there ? from.rows[input * from.samples + at] * from.mask[input] : 0.0F;
    x[static_cast<std::size_t>(input) * rows.stride + sample] = value;
  }
}

/// The pixel that a shift brings to where a bit looks, or 0 where it lies outside of the image.
template <class T>
__device__ __forceinline__ float shifted_pixel(const T* image, const InputBit& bit,
                                               const SampleInputs& from, ImageShift shift) {
  const int x = bit.x - shift.right;
  const int y = bit.y - shift.down;
  if (x < 0 || x >= from.width || y < 0 || y >= from.height) return 0;
  return static_cast<float>(image[bit.feature - shift.down * from.width - shift.right]);
}

/// As the CPU computes it: a product and a sum, each rounded.
template <bool kLearns>
__device__ __forceinline__ float threshold_of(const SampleInputs& from, const InputBit& bit,
                                              int input) {
  if constexpr (!kLearns) return bit.threshold;
  return __fadd_rn(bit.threshold, __fmul_rn(from.offsets[input], from.ranges[input]));
}

template <class T, bool kLearns>
__global__ void gather_bits(const SampleInputs from, const T* features, const SampleChoice choice,
                            RowShape rows, float* x) {
  const int sample = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_begin();
  wait_for_previous();
  if (sample >= rows.stride) return;
  const bool is_there = sample < rows.samples;
  const T* image = features + (is_there ? sample_at(choice, sample) : 0) * from.features;
  const ImageShift shift =
      is_there && choice.shifts != nullptr ? choice.shifts[sample] : ImageShift{0, 0};
  for (int input = blockIdx.y; input < from.inputs; input += gridDim.y) {
    const InputBit bit = from.bits[input];
    const bool on = is_there && shifted_pixel(image, bit, from, shift) >
                                    threshold_of<kLearns>(from, bit, input);
    x[static_cast<std::size_t>(input) * rows.stride + sample] = on ? from.mask[input] : 0.0F;
  }
}

/// Beyond this the product with a range could overflow.
constexpr float largest_gradient = 1e37F;

/// One warp per input, its lanes over the samples. Bit b passes gradients as
/// p = sigmoid((x - t) / w) does: dt = -sum g p (1 - p) / w.
template <class T>
__global__ void __launch_bounds__(threads)
    sum_threshold_gradients(const ThresholdBackward arguments, const T* features, RowShape rows) {
  const SampleInputs& from = arguments.from;
  const int input = blockIdx.x * warps + threadIdx.x / 32;
  let_next_begin();
  wait_for_previous();
  if (input >= from.inputs) return;
  const InputBit bit = from.bits[input];
  const float threshold = threshold_of<true>(from, bit, input);
  const float width = from.ranges[input] * arguments.width_share;
  float sum = 0;
  for (int sample = threadIdx.x % 32; sample < rows.samples; sample += 32) {
    const T* image = features + sample_at(arguments.choice, sample) * from.features;
    const ImageShift shift =
        arguments.choice.shifts != nullptr ? arguments.choice.shifts[sample] : ImageShift{0, 0};
    const float x = shifted_pixel(image, bit, from, shift);
    const float p = 1 / (1 + expf((threshold - x) / width));
    const float g = arguments.g[static_cast<std::size_t>(input) * rows.stride + sample];
    sum += g * p * (1 - p) / width;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  if (threadIdx.x % 32 != 0) return;
  const float gradient = -sum * (from.mask[input] * arguments.factor) * from.ranges[input];
  arguments.gradients[input] = gradient;
  if (!(fabsf(gradient) < largest_gradient)) *arguments.not_finite = arguments.state->stamp;
}

__global__ void __launch_bounds__(threads) update_offsets(const ThresholdUpdate arguments) {
  let_next_begin();
  wait_for_previous();
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i >= arguments.inputs || *arguments.not_finite == arguments.state->stamp) return;
  const UpdateArguments factors = arguments.state->factors;
  adamw(factors.adamw, arguments.offsets[i], arguments.first[i], arguments.second[i],
        clipped(factors, arguments.gradients[i]));
}

template <class T>
cudaError_t gather(const SampleInputs& from, const T* features, const SampleChoice& choice,
                   RowShape rows, float* x, dim3 blocks, unsigned block, cudaStream_t stream) {
  const auto kernel = from.offsets != nullptr ? gather_bits<T, true> : gather_bits<T, false>;
  return launch(kernel, blocks, block, 0, stream, from, features, choice, rows, x);
}

}  // namespace

cudaError_t gather_samples(const SampleInputs& from, const SampleChoice& choice, RowShape rows,
                           float* x, cudaStream_t stream) {
  constexpr int block = 128;
  constexpr int max_rows = 4096;
  const dim3 blocks(static_cast<unsigned>((rows.stride + block - 1) / block),
                    static_cast<unsigned>(from.inputs < max_rows ? from.inputs : max_rows));
  if (from.rows != nullptr) {
    return launch(gather_rows, blocks, block, 0, stream, from, choice, rows, x);
  }
  return from.bytes != nullptr ? gather(from, from.bytes, choice, rows, x, blocks, block, stream)
                               : gather(from, from.numbers, choice, rows, x, blocks, block, stream);
}

cudaError_t threshold_gradients(const ThresholdBackward& arguments, RowShape rows,
                                cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((arguments.from.inputs + warps - 1) / warps));
  return arguments.from.bytes != nullptr
             ? launch(sum_threshold_gradients<std::uint8_t>, blocks, threads, 0, stream, arguments,
                      arguments.from.bytes, rows)
             : launch(sum_threshold_gradients<float>, blocks, threads, 0, stream, arguments,
                      arguments.from.numbers, rows);
}

cudaError_t update_thresholds(const ThresholdUpdate& arguments, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((arguments.inputs + threads - 1) / threads));
  return launch(update_offsets, blocks, threads, 0, stream, arguments);
}

}  // namespace boolgrad::cuda
