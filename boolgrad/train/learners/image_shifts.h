// Random shifts of images (augmentation), as a training step draws them.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/backend/options/image_shift.h"

namespace boolgrad {

/// The shifts of the first `count` images of a step, each way by at most `limit` pixels, all
/// equally likely. A shift is a function of seed, step and place in the step alone.
std::vector<ImageShift> drawn_shifts(std::int64_t count, std::int64_t limit, std::uint64_t seed,
                                     std::int64_t step);

}  // namespace boolgrad
