// Pictures moved by a few pixels, so that every use shows another one.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/backend/options/image_shift.h"
#include "boolgrad/data/data_set.h"

namespace boolgrad {

/// The moves of the first `count` pictures of a step, each way by at most `most` pixels, all as
/// likely. A move is a function of seed, step and place in the step alone.
std::vector<ImageShift> drawn_moves(std::int64_t count, std::int64_t most, std::uint64_t seed,
                                     std::int64_t step);

/// The samples at the places `picked`, each picture moved by its own of `moves`.
Tensor moved_pictures(const Tensor& features, const DataForm& form,
                      const std::vector<std::int64_t>& picked,
                      const std::vector<ImageShift>& moves);

}  // namespace boolgrad
