#include "boolgrad/data/automaton_task.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad::data {

Tensor life_step(const Tensor& grids) {
  if (grids.rank() != 3 || grids.dtype() != DType::uint8) {
    fail("life_step", "expected uint8 [grids, height, width], received {} {}",
         to_string(grids.dtype()), to_string(grids.shape()));
  }
  const std::int64_t height = grids.shape()[1];
  const std::int64_t width = grids.shape()[2];
  Tensor next(grids.shape(), DType::uint8);
  const std::span<const std::uint8_t> from = grids.values<std::uint8_t>();
  const std::span<std::uint8_t> to = next.mutable_values<std::uint8_t>();
  for (std::int64_t i = 0; i < grids.size(); ++i) {
    const std::int64_t x = i % width;
    const std::int64_t y = i / width % height;
    const std::int64_t first = i - y * width - x;
    int living = 0;
    for (const std::int64_t dy : {-1, 0, 1}) {
      for (const std::int64_t dx : {-1, 0, 1}) {
        const std::int64_t row = (y + dy + height) % height;
        const std::int64_t column = (x + dx + width) % width;
        living += from[static_cast<std::size_t>(first + row * width + column)];
      }
    }
    // `living` includes the cell itself.
    const bool lives = from[static_cast<std::size_t>(i)] != 0;
    to[static_cast<std::size_t>(i)] = living == 3 || (living == 4 && lives) ? 1 : 0;
  }
  return next;
}

AutomatonTask life_task() {
  constexpr std::int64_t cells = 9;
  constexpr std::int64_t grids = 1 << cells;
  Tensor starts({grids, 3, 3}, DType::uint8);
  const std::span<std::uint8_t> to = starts.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = (i / cells >> (i % cells)) & 1;
  return {life_step(starts).viewed_as({1, grids, 3, 3}), starts.viewed_as({1, grids, 3, 3})};
}

Tensor grown_part(const Tensor& target, double share) {
  const std::int64_t height = target.shape()[2];
  const std::int64_t width = target.shape()[3];
  const auto distance = [&](std::size_t index) {
    const auto cell = static_cast<std::int64_t>(index) % (height * width);
    return std::max(std::abs(cell / width - height / 2), std::abs(cell % width - width / 2));
  };
  Tensor part = target.clone();
  const std::span<std::uint8_t> bits = part.mutable_values<std::uint8_t>();
  std::int64_t farthest = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] != 0) farthest = std::max(farthest, distance(i));
  }
  const auto reached = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(farthest)));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (distance(i) > reached) bits[i] = 0;
  }
  return part;
}

}  // namespace boolgrad::data
