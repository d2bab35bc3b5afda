// Transforms of images (augmentation). Plain C++17, shared with device kernels.
#pragma once

#include <cstdint>

namespace boolgrad {

/// 1 in 16.16 fixed point.
inline constexpr std::int32_t fixed_one = 1 << 16;

/// The transform of an image: an affine map, a shift by whole pixels, and a cut-out.
///
/// Pixel (x, y) of the result comes from this position of the image, in 16.16 fixed point, where
/// u = x - right and v = y - down:
///
///   (x_of_u u + x_of_v v + x_origin, y_of_u u + y_of_v v + y_origin)
///
/// Pixels outside the image are 0. In uint8 images, positions are rounded to 1/256 pixel and the
/// four pixels around them are interpolated: with fractions f and g in 1/256, the result is
/// ((256 - f)(256 - g) p00 + f (256 - g) p10 + (256 - f) g p01 + f g p11 + 2^15) / 2^16, rounded
/// down. In float32 images, the nearest pixel is taken. All devices compute the same values, since
/// only integers are involved.
struct ImageTransform {
  std::int32_t right = 0;  ///< shift in pixels
  std::int32_t down = 0;   ///< shift in pixels
  std::int32_t x_of_u = fixed_one;
  std::int32_t x_of_v = 0;
  std::int32_t x_origin = 0;
  std::int32_t y_of_u = 0;
  std::int32_t y_of_v = fixed_one;
  std::int32_t y_origin = 0;
  // A square of the result that is 0. It may reach beyond the image.
  std::int32_t cut_left = 0;
  std::int32_t cut_top = 0;
  std::int32_t cut_side = 0;  ///< 0: nothing is cut out

  /// Whether the image is at most shifted. Devices have a faster path for this.
  constexpr bool is_shift() const {
    return x_of_u == fixed_one && x_of_v == 0 && x_origin == 0 && y_of_u == 0 &&
           y_of_v == fixed_one && y_origin == 0 && cut_side == 0;
  }
};

}  // namespace boolgrad
