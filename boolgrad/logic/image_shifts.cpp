#include "boolgrad/logic/image_shifts.h"

#include <algorithm>

namespace boolgrad {
namespace {

template <class T>
void shift_image(std::span<const T> from, std::span<T> to, std::int64_t height, std::int64_t width,
                 ImageShift shift) {
  std::ranges::fill(to, T{});
  const std::int64_t rows = std::ssize(from) / width;  // of all channels
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t y = row % height - shift.down;
    if (y < 0 || y >= height) continue;
    for (std::int64_t x = std::max(0, shift.right); x < width + std::min(0, shift.right); ++x) {
      to[static_cast<std::size_t>(row * width + x)] =
          from[static_cast<std::size_t>((row - shift.down) * width + x - shift.right)];
    }
  }
}

}  // namespace

Tensor shifted_images(const Tensor& features, std::int64_t height, std::int64_t width,
                      std::span<const std::int64_t> samples, std::span<const ImageShift> shifts) {
  Tensor result({std::ssize(samples), features.shape()[1]}, features.dtype());
  const auto size = static_cast<std::size_t>(features.shape()[1]);
  visit_dtype(features.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const auto from =
          features.values<T>().subspan(static_cast<std::size_t>(samples[s]) * size, size);
      shift_image<T>(from, result.mutable_values<T>().subspan(s * size, size), height, width,
                     shifts[s]);
    }
  });
  return result;
}

}  // namespace boolgrad
