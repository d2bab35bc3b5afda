// Resampling of images.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/picture/image.h"

namespace boolgrad::picture {

/// Resamples an image to `width` by `height` pixels by area averaging.
///
/// Averages are taken of the stored values, not of linear light. Halves are rounded up.
Image reduced(const Image& image, std::int64_t width, std::int64_t height);

/// The side of the largest squares of one colour that make up all of these images, which have one
/// size. Their grid has at least 3 by 3 squares.
std::int64_t square_side(std::span<const Image> images);

}  // namespace boolgrad::picture
