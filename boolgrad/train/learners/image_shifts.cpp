#include "boolgrad/train/learners/image_shifts.h"

#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad {

std::vector<ImageShift> drawn_shifts(std::int64_t count, std::int64_t limit, std::uint64_t seed,
                                     std::int64_t step) {
  const auto shift = [&](std::int64_t place, std::int64_t axis) {
    const RandomAddress at{.seed = seed,
                           .stream = shift_stream,
                           .step = static_cast<std::uint32_t>(step),
                           .index = static_cast<std::uint64_t>(2 * place + axis)};
    const std::uint64_t drawn = random_below(at, static_cast<std::uint64_t>(2 * limit + 1));
    return static_cast<std::int32_t>(static_cast<std::int64_t>(drawn) - limit);
  };
  std::vector<ImageShift> shifts;
  shifts.reserve(static_cast<std::size_t>(count));
  for (std::int64_t place = 0; place < count; ++place) {
    shifts.push_back({.right = shift(place, 0), .down = shift(place, 1)});
  }
  return shifts;
}

}  // namespace boolgrad
