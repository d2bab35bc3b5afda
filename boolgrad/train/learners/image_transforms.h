// Random transforms of images (augmentation).
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/options/image_transform.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The images of a step.
struct ImageBatch {
  std::int64_t count = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Transforms of the images of a step. Shifts are uniform from -max_shift to max_shift pixels on
/// both axes, angles uniform from -max_rotation to max_rotation, and the logarithms of scales
/// uniform from -log(1 + max_scale) to log(1 + max_scale). The middle of a cut-out is any pixel. A
/// transform depends on seed, step and the index of the image only.
std::vector<ImageTransform> random_transforms(const AugmentationOptions& options,
                                              const ImageBatch& images, std::uint64_t seed,
                                              std::int64_t step);

}  // namespace boolgrad::train
