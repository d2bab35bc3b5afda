// Pictures on coarser grids.
#pragma once

#include <cstdint>

#include "boolgrad/picture/image.h"

namespace boolgrad {

/// The picture on a grid of `width` by `height`: every pixel is the average of the area it covers,
/// the parts of pixels at its edges counted as parts. On a finer grid this repeats pixels and
/// blends only where a new one lies across two old ones.
///
/// Averages are taken of the stored values, not of linear light, and a half is rounded up.
Image reduced(const Image& image, std::int64_t width, std::int64_t height);

}  // namespace boolgrad
