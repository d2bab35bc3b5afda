#include "boolgrad/train/learners/image_transforms.h"

#include <cmath>

#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/logic/image_transforms.h"

namespace boolgrad::train {
namespace {

/// The random numbers of one image in a step.
class ImageRandom {
 public:
  ImageRandom(std::uint64_t seed, std::int64_t step, std::int64_t image)
      : seed_(seed), step_(step), image_(image) {}

  /// Uniform from -1 to 1.
  double signed_share(std::uint32_t stream) const {
    return 2 * random_uniform(address(stream, image_)) - 1;
  }
  bool coin(std::uint32_t stream) const { return random_below(address(stream, image_), 2) == 1; }
  /// Uniform below `bound`, for each of two axes.
  std::int32_t below(std::uint32_t stream, std::int64_t axis, std::int64_t bound) const {
    return static_cast<std::int32_t>(
        random_below(address(stream, 2 * image_ + axis), static_cast<std::uint64_t>(bound)));
  }

 private:
  RandomAddress address(std::uint32_t stream, std::int64_t index) const {
    return {.seed = seed_,
            .stream = stream,
            .step = static_cast<std::uint32_t>(step_),
            .index = static_cast<std::uint64_t>(index)};
  }

  std::uint64_t seed_;
  std::int64_t step_, image_;
};

}  // namespace

std::vector<ImageTransform> random_transforms(const AugmentationOptions& options,
                                              const ImageBatch& images, std::uint64_t seed,
                                              std::int64_t step) {
  const auto max_shift = static_cast<std::int32_t>(options.max_shift);
  const auto cutout = static_cast<std::int32_t>(options.cutout);
  std::vector<ImageTransform> transforms;
  transforms.reserve(static_cast<std::size_t>(images.count));
  for (std::int64_t image = 0; image < images.count; ++image) {
    const ImageRandom random(seed, step, image);
    logic::ImageChange change;
    if (max_shift > 0) {
      change.right = random.below(shift_stream, 0, 2 * max_shift + 1) - max_shift;
      change.down = random.below(shift_stream, 1, 2 * max_shift + 1) - max_shift;
    }
    if (options.max_rotation > 0) {
      change.degrees = options.max_rotation * random.signed_share(rotation_stream);
    }
    if (options.max_scale > 0) {
      change.scale = std::pow(1 + options.max_scale, random.signed_share(scale_stream));
    }
    if (options.flip) change.is_mirrored = random.coin(flip_stream);
    if (cutout > 0) {
      change.cut_left = random.below(cutout_stream, 0, images.width) - cutout / 2;
      change.cut_top = random.below(cutout_stream, 1, images.height) - cutout / 2;
      change.cut_side = cutout;
    }
    transforms.push_back(logic::image_transform(change, images.height, images.width));
  }
  return transforms;
}

}  // namespace boolgrad::train
