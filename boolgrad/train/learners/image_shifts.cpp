#include "boolgrad/train/learners/image_shifts.h"

#include <algorithm>
#include <span>

#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad {
namespace {

template <class T>
void move_picture(std::span<const T> from, std::span<T> to, const DataForm& form,
                  ImageShift move) {
  std::ranges::fill(to, T{});
  for (std::int64_t row = 0; row < form.channels * form.height; ++row) {
    const std::int64_t y = row % form.height - move.down;
    if (y < 0 || y >= form.height) continue;
    for (std::int64_t x = std::max(0, move.right); x < form.width + std::min(0, move.right); ++x) {
      to[static_cast<std::size_t>(row * form.width + x)] =
          from[static_cast<std::size_t>((row - move.down) * form.width + x - move.right)];
    }
  }
}

}  // namespace

std::vector<ImageShift> drawn_moves(std::int64_t count, std::int64_t most, std::uint64_t seed,
                                     std::int64_t step) {
  const auto way = [&](std::int64_t place, std::int64_t axis) {
    const RandomAddress at{.seed = seed,
                           .stream = shift_stream,
                           .step = static_cast<std::uint32_t>(step),
                           .index = static_cast<std::uint64_t>(2 * place + axis)};
    const std::uint64_t drawn = random_below(at, static_cast<std::uint64_t>(2 * most + 1));
    return static_cast<std::int32_t>(static_cast<std::int64_t>(drawn) - most);
  };
  std::vector<ImageShift> moves;
  moves.reserve(static_cast<std::size_t>(count));
  for (std::int64_t place = 0; place < count; ++place) {
    moves.push_back({.right = way(place, 0), .down = way(place, 1)});
  }
  return moves;
}

Tensor moved_pictures(const Tensor& features, const DataForm& form,
                      const std::vector<std::int64_t>& picked,
                      const std::vector<ImageShift>& moves) {
  Tensor result({std::ssize(picked), features.shape()[1]}, features.dtype());
  const auto width = static_cast<std::size_t>(features.shape()[1]);
  visit_dtype(features.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t s = 0; s < picked.size(); ++s) {
      const auto from =
          features.values<T>().subspan(static_cast<std::size_t>(picked[s]) * width, width);
      move_picture<T>(from, result.mutable_values<T>().subspan(s * width, width), form, moves[s]);
    }
  });
  return result;
}

}  // namespace boolgrad
