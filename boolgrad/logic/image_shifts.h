// Images shifted by a few pixels, so that every use of a sample shows another one (augmentation).
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/backend/options/image_shift.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The rows `samples` of `features` [images, channels * height * width], each shifted by its own of
/// `shifts`.
Tensor shifted_images(const Tensor& features, std::int64_t height, std::int64_t width,
                      std::span<const std::int64_t> samples, std::span<const ImageShift> shifts);

}  // namespace boolgrad
