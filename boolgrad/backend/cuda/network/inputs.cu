// Inputs of gate networks: rows of samples, or thresholded features with trainable thresholds.
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
  allow_next_launch();
  wait_for_previous();
  if (sample >= rows.stride) return;
  const bool is_live = sample < rows.samples;
  const std::size_t at = is_live ? sample_at(choice, sample) : 0;
  for (int input = blockIdx.y; input < from.inputs; input += gridDim.y) {
    const float value = is_live ? from.rows[input * from.samples + at] * from.mask[input] : 0.0F;
    x[static_cast<std::size_t>(input) * rows.stride + sample] = value;
  }
}

/// A pixel of a channel, or 0 outside the image.
template <class T>
__device__ __forceinline__ T pixel_at(const T* channel, const SampleInputs& from, int x, int y) {
  const bool is_inside = x >= 0 && x < from.width && y >= 0 && y < from.height;
  return is_inside ? channel[y * from.width + x] : T{};
}

/// The value at a position in 16.16 fixed point, as described in `ImageTransform`.
__device__ __forceinline__ float value_at(const std::uint8_t* channel, const SampleInputs& from,
                                          int x, int y) {
  constexpr int half = 1 << 7;
  const int column = (x + half) >> 16;
  const int row = (y + half) >> 16;
  const int f = (x + half) >> 8 & 0xff;
  const int g = (y + half) >> 8 & 0xff;
  const int sum = (256 - f) * (256 - g) * pixel_at(channel, from, column, row) +
                  f * (256 - g) * pixel_at(channel, from, column + 1, row) +
                  (256 - f) * g * pixel_at(channel, from, column, row + 1) +
                  f * g * pixel_at(channel, from, column + 1, row + 1);
  return static_cast<float>((sum + (1 << 15)) >> 16);
}
__device__ __forceinline__ float value_at(const float* channel, const SampleInputs& from, int x,
                                          int y) {
  constexpr int half = 1 << 15;
  return pixel_at(channel, from, (x + half) >> 16, (y + half) >> 16);
}

/// The pixel of a transformed image at the position of a bit.
template <class T, bool kOnlyShifts>
__device__ __forceinline__ float transformed_pixel(const T* image, const InputBit& bit,
                                                   const SampleInputs& from,
                                                   const ImageTransform& t) {
  const int u = bit.x - t.right;
  const int v = bit.y - t.down;
  const T* channel = image + (bit.feature - bit.y * from.width - bit.x);
  if constexpr (kOnlyShifts) return static_cast<float>(pixel_at(channel, from, u, v));
  const bool is_cut_out = bit.x >= t.cut_left && bit.x < t.cut_left + t.cut_side &&
                          bit.y >= t.cut_top && bit.y < t.cut_top + t.cut_side;
  if (is_cut_out) return 0;
  return value_at(channel, from, t.x_of_u * u + t.x_of_v * v + t.x_origin,
                  t.y_of_u * u + t.y_of_v * v + t.y_origin);
}

/// The transform of a sample. Loads only the shift if there is nothing else.
template <bool kOnlyShifts>
__device__ __forceinline__ ImageTransform transform_of(const SampleChoice& choice, int sample) {
  ImageTransform transform;
  if (choice.transforms == nullptr) return transform;
  if constexpr (!kOnlyShifts) return choice.transforms[sample];
  transform.right = choice.transforms[sample].right;
  transform.down = choice.transforms[sample].down;
  return transform;
}

/// As on the CPU: a product and a sum, rounded separately.
template <bool kLearns>
__device__ __forceinline__ float threshold_of(const SampleInputs& from, const InputBit& bit,
                                              int input) {
  if constexpr (!kLearns) return bit.threshold;
  return __fadd_rn(bit.threshold, __fmul_rn(from.offsets[input], from.ranges[input]));
}

template <class T, bool kLearns, bool kOnlyShifts>
__global__ void gather_bits(const SampleInputs from, const T* features, const SampleChoice choice,
                            RowShape rows, float* x) {
  const int sample = blockIdx.x * blockDim.x + threadIdx.x;
  allow_next_launch();
  wait_for_previous();
  if (sample >= rows.stride) return;
  const bool is_live = sample < rows.samples;
  const T* image = features + (is_live ? sample_at(choice, sample) : 0) * from.features;
  const ImageTransform transform =
      is_live ? transform_of<kOnlyShifts>(choice, sample) : ImageTransform{};
  for (int input = blockIdx.y; input < from.inputs; input += gridDim.y) {
    const InputBit bit = from.bits[input];
    const bool on = is_live && transformed_pixel<T, kOnlyShifts>(image, bit, from, transform) >
                                   threshold_of<kLearns>(from, bit, input);
    x[static_cast<std::size_t>(input) * rows.stride + sample] = on ? from.mask[input] : 0.0F;
  }
}

/// Above this, the product with a range could overflow.
constexpr float largest_gradient = 1e37F;

/// One warp per input, its lanes over the samples. Bit b passes gradients as
/// p = sigmoid((x - t) / w) does: dt = -sum g p (1 - p) / w.
template <class T, bool kOnlyShifts>
__global__ void __launch_bounds__(threads)
    sum_threshold_gradients(const ThresholdBackward arguments, const T* features, RowShape rows) {
  const SampleInputs& from = arguments.from;
  const int input = blockIdx.x * warps + threadIdx.x / 32;
  allow_next_launch();
  wait_for_previous();
  if (input >= from.inputs) return;
  const InputBit bit = from.bits[input];
  const float threshold = threshold_of<true>(from, bit, input);
  const float width = from.ranges[input] * arguments.width_share;
  float sum = 0;
  for (int sample = threadIdx.x % 32; sample < rows.samples; sample += 32) {
    const T* image = features + sample_at(arguments.choice, sample) * from.features;
    const ImageTransform transform = transform_of<kOnlyShifts>(arguments.choice, sample);
    const float x = transformed_pixel<T, kOnlyShifts>(image, bit, from, transform);
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

template <class T>
cudaError_t gather(const SampleInputs& from, const T* features, const SampleChoice& choice,
                   RowShape rows, float* x, dim3 blocks, unsigned block, cudaStream_t stream) {
  const bool learns = from.offsets != nullptr;
  const auto kernel = choice.only_shifts
                          ? (learns ? gather_bits<T, true, true> : gather_bits<T, false, true>)
                          : (learns ? gather_bits<T, true, false> : gather_bits<T, false, false>);
  return launch(kernel, blocks, block, 0, stream, from, features, choice, rows, x);
}

template <class T>
cudaError_t sum_gradients(const ThresholdBackward& arguments, const T* features, RowShape rows,
                          cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((arguments.from.inputs + warps - 1) / warps));
  const auto kernel = arguments.choice.only_shifts ? sum_threshold_gradients<T, true>
                                                   : sum_threshold_gradients<T, false>;
  return launch(kernel, blocks, threads, 0, stream, arguments, features, rows);
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
                               : gather(from, from.floats, choice, rows, x, blocks, block, stream);
}

cudaError_t threshold_gradients(const ThresholdBackward& arguments, RowShape rows,
                                cudaStream_t stream) {
  return arguments.from.bytes != nullptr
             ? sum_gradients(arguments, arguments.from.bytes, rows, stream)
             : sum_gradients(arguments, arguments.from.floats, rows, stream);
}

}  // namespace boolgrad::cuda
