#include "boolgrad/logic/image_transforms.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "boolgrad/core/fail.h"

namespace boolgrad::logic {
namespace {

std::int32_t in_fixed_point(double value) {
  return static_cast<std::int32_t>(std::lround(value * fixed_one));
}

/// The origin for which a map with these coefficients leaves the centre in place. The centre of n
/// pixels is at (n - 1) / 2, so twice the origin is an integer; it is rounded down.
std::int32_t origin_of(std::int64_t own_side, std::int64_t own, std::int64_t other_side,
                       std::int64_t other) {
  const std::int64_t twice = (fixed_one - own) * (own_side - 1) - other * (other_side - 1);
  return static_cast<std::int32_t>(twice >> 1);
}

/// One channel of an image.
template <class T>
struct Plane {
  std::span<const T> pixels;
  std::int64_t height, width;

  /// 0 outside the image.
  T at(std::int64_t x, std::int64_t y) const {
    const bool is_inside = x >= 0 && x < width && y >= 0 && y < height;
    return is_inside ? pixels[static_cast<std::size_t>(y * width + x)] : T{};
  }
};

std::uint8_t value_at(const Plane<std::uint8_t>& plane, std::int32_t x, std::int32_t y) {
  constexpr std::int32_t half = 1 << 7;  // of the last digit that is used
  const std::int32_t column = (x + half) >> 16;
  const std::int32_t row = (y + half) >> 16;
  const std::int32_t f = (x + half) >> 8 & 0xff;
  const std::int32_t g = (y + half) >> 8 & 0xff;
  const std::int32_t sum =
      (256 - f) * (256 - g) * plane.at(column, row) + f * (256 - g) * plane.at(column + 1, row) +
      (256 - f) * g * plane.at(column, row + 1) + f * g * plane.at(column + 1, row + 1);
  return static_cast<std::uint8_t>((sum + (1 << 15)) >> 16);
}

/// The nearest pixel.
template <class T>
T value_at(const Plane<T>& plane, std::int32_t x, std::int32_t y) {
  constexpr std::int32_t half = 1 << 15;
  return plane.at((x + half) >> 16, (y + half) >> 16);
}

bool is_cut_out(const ImageTransform& transform, std::int32_t x, std::int32_t y) {
  return x >= transform.cut_left && x < transform.cut_left + transform.cut_side &&
         y >= transform.cut_top && y < transform.cut_top + transform.cut_side;
}

template <class T>
void transform_plane(const Plane<T>& from, std::span<T> to, const ImageTransform& t) {
  auto next = to.begin();
  for (std::int32_t y = 0; y < from.height; ++y) {
    for (std::int32_t x = 0; x < from.width; ++x) {
      const std::int32_t u = x - t.right;
      const std::int32_t v = y - t.down;
      *next++ = is_cut_out(t, x, y) ? T{}
                                    : value_at(from, t.x_of_u * u + t.x_of_v * v + t.x_origin,
                                               t.y_of_u * u + t.y_of_v * v + t.y_origin);
    }
  }
}

template <class T>
void shift_plane(const Plane<T>& from, std::span<T> to, const ImageTransform& t) {
  std::ranges::fill(to, T{});
  const std::int64_t first = std::max(0, t.right);
  const std::int64_t last = from.width + std::min(0, t.right);
  for (std::int64_t y = 0; y < from.height; ++y) {
    const std::int64_t row = y - t.down;
    if (row < 0 || row >= from.height) continue;
    for (std::int64_t x = first; x < last; ++x) {
      to[static_cast<std::size_t>(y * from.width + x)] =
          from.pixels[static_cast<std::size_t>(row * from.width + x - t.right)];
    }
  }
}

}  // namespace

// The inverse of scale * rotation * mirror, in coordinates whose y points down.
ImageTransform image_transform(const ImageChange& change, std::int64_t height, std::int64_t width) {
  if (!(change.scale >= min_image_scale)) {
    fail("image_transform", "expected a scale of at least {}, received {}", min_image_scale,
         change.scale);
  }
  const double angle = change.degrees * std::numbers::pi / 180;
  const double mirror = change.is_mirrored ? -1 : 1;
  ImageTransform result{.right = change.right,
                        .down = change.down,
                        .x_of_u = in_fixed_point(mirror * std::cos(angle) / change.scale),
                        .x_of_v = in_fixed_point(mirror * std::sin(angle) / change.scale),
                        .y_of_u = in_fixed_point(-std::sin(angle) / change.scale),
                        .y_of_v = in_fixed_point(std::cos(angle) / change.scale),
                        .cut_left = change.cut_left,
                        .cut_top = change.cut_top,
                        .cut_side = change.cut_side};
  result.x_origin = origin_of(width, result.x_of_u, height, result.x_of_v);
  result.y_origin = origin_of(height, result.y_of_v, width, result.y_of_u);
  if (!result.is_shift() && std::max(height, width) > max_transformed_side) {
    fail("image_transform", "expected images of at most {0}x{0} pixels, received {1}x{2}",
         max_transformed_side, height, width);
  }
  return result;
}

Tensor transformed_images(const Tensor& features, std::int64_t height, std::int64_t width,
                          std::span<const std::int64_t> samples,
                          std::span<const ImageTransform> transforms) {
  Tensor result({std::ssize(samples), features.shape()[1]}, features.dtype());
  const auto size = static_cast<std::size_t>(height * width);
  const auto channels = static_cast<std::size_t>(features.shape()[1]) / size;
  visit_dtype(features.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t plane = 0; plane < samples.size() * channels; ++plane) {
      const std::size_t s = plane / channels;
      const std::size_t first =
          (static_cast<std::size_t>(samples[s]) * channels + plane % channels) * size;
      const Plane<T> from{features.values<T>().subspan(first, size), height, width};
      const auto to = result.mutable_values<T>().subspan(plane * size, size);
      if (transforms[s].is_shift()) shift_plane(from, to, transforms[s]);
      else transform_plane(from, to, transforms[s]);
    }
  });
  return result;
}

}  // namespace boolgrad::logic
