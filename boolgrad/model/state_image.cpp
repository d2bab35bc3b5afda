#include "boolgrad/model/state_image.h"

#include <algorithm>
#include <cmath>

#include "boolgrad/core/fail.h"

namespace boolgrad {
namespace {

constexpr std::int64_t colours = 3;

/// An image in which `level(channel, y, x)`, from 0 to 1, is the brightness of a channel.
template <class Level>
picture::Image painted(std::int64_t channels, std::int64_t height, std::int64_t width,
                       Level level) {
  picture::Image image = picture::filled_image(width, height, picture::black);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const auto shade = [&](std::int64_t colour) {
        double value = level(channels < colours ? 0 : colour, y, x);
        if (channels == 2 && colour == 2) value = std::max<double>(value, level(1, y, x));
        return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
      };
      image.at(x, y) = {shade(0), shade(1), shade(2)};
    }
  }
  return image;
}

}  // namespace

picture::Image state_image(const automata::BitGrid& state, std::int64_t channels) {
  if (channels < 1 || channels > state.channels()) {
    fail("state_image", "expected 1 to {} channels, received {}", state.channels(), channels);
  }
  return painted(
      channels, state.height(), state.width(),
      [&](std::int64_t c, std::int64_t y, std::int64_t x) { return state.at(c, 0, y, x) ? 1 : 0; });
}

picture::Image soft_state_image(const Tensor& state) {
  if (!state.defined() || state.rank() != 4 || state.size() == 0) {
    fail("state_image", "expected a state [channels, grids, height, width], received {}",
         state.defined() ? to_string(state.shape()) : "none");
  }
  const Shape& shape = state.shape();
  return painted(shape[0], shape[2], shape[3], [&](std::int64_t c, std::int64_t y, std::int64_t x) {
    return state.at((c * shape[1] * shape[2] + y) * shape[3] + x);
  });
}

}  // namespace boolgrad
