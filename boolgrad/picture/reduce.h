// Resampling of images.
#pragma once

#include <cstdint>

#include "boolgrad/picture/image.h"

namespace boolgrad::picture {

/// Resamples an image to `width` by `height` pixels by area averaging.
///
/// Averages are taken of the stored values, not of linear light. Halves are rounded up.
Image reduced(const Image& image, std::int64_t width, std::int64_t height);

}  // namespace boolgrad::picture
