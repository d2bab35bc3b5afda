// Transforms of images (augmentation): the reference for all devices.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/options/image_transform.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// A change of an image, in this order: mirrored, rotated and scaled about its centre, shifted, cut
/// out.
struct ImageChange {
  bool is_mirrored = false;  ///< left and right are exchanged
  double degrees = 0;        ///< clockwise rotation
  double scale = 1;          ///< above 1, the image is enlarged
  std::int32_t right = 0;    ///< shift in pixels
  std::int32_t down = 0;     ///< shift in pixels
  // A square of zeros.
  std::int32_t cut_left = 0;
  std::int32_t cut_top = 0;
  std::int32_t cut_side = 0;
};

/// Limits that keep 16.16 fixed point within 32 bits.
inline constexpr std::int64_t max_transformed_side = 4096;  ///< unless images are only shifted
inline constexpr double min_image_scale = 0.5;

/// The transform of images of `height` x `width` pixels. Coefficients are rounded to 2^-16, so that
/// rotations by multiples of 90 degrees move whole pixels of square images.
ImageTransform image_transform(const ImageChange& change, std::int64_t height, std::int64_t width);

/// The images `samples` of `features` [images, channels * height * width], image i of the result
/// transformed by `transforms[i]`.
Tensor transformed_images(const Tensor& features, std::int64_t height, std::int64_t width,
                          std::span<const std::int64_t> samples,
                          std::span<const ImageTransform> transforms);

}  // namespace boolgrad::logic
