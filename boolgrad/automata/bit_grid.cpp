#include "boolgrad/automata/bit_grid.h"

#include "boolgrad/core/fail.h"

namespace boolgrad::automata {

BitGrid::BitGrid(std::int64_t channels, std::int64_t batch, std::int64_t height, std::int64_t width)
    : channels_(channels),
      batch_(batch),
      height_(height),
      width_(width),
      row_words_(static_cast<std::size_t>((width + 63) / 64)),
      channel_words_(static_cast<std::size_t>(batch * (height + 2)) * row_words_) {
  if (channels < 1 || batch < 1 || height < 1 || width < 1) {
    fail("grid", "expected at least one cell and channel, received {} channels of {} grids {}x{}",
         channels, batch, height, width);
  }
  words_.assign(static_cast<std::size_t>(channels) * channel_words_, 0);
}

BitGrid BitGrid::from(const Tensor& state) {
  if (state.rank() != 4) {
    fail("grid", "expected a state [channels, batch, height, width], received {}",
         to_string(state.shape()));
  }
  const Shape& shape = state.shape();
  BitGrid grid(shape[0], shape[1], shape[2], shape[3]);
  visit_dtype(state.dtype(), [&](auto zero) {
    auto value = state.values<decltype(zero)>().begin();
    for (std::int64_t c = 0; c < shape[0]; ++c) {
      for (std::int64_t b = 0; b < shape[1]; ++b) {
        for (std::int64_t y = 0; y < shape[2]; ++y) {
          for (std::int64_t x = 0; x < shape[3]; ++x) {
            if (convert<double>(*value++) > 0.5) grid.set(c, b, y, x, true);
          }
        }
      }
    }
  });
  return grid;
}

Tensor BitGrid::to_tensor(DType dtype) const {
  Tensor state({channels_, batch_, height_, width_}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto to = state.mutable_values<T>().begin();
    for (std::int64_t c = 0; c < channels_; ++c) {
      for (std::int64_t b = 0; b < batch_; ++b) {
        for (std::int64_t y = 0; y < height_; ++y) {
          for (std::int64_t x = 0; x < width_; ++x) *to++ = convert<T>(at(c, b, y, x) ? 1 : 0);
        }
      }
    }
  });
  return state;
}

void BitGrid::clear(const Rectangle& rectangle) {
  for (std::int64_t c = 0; c < channels_; ++c) {
    for (std::int64_t b = 0; b < batch_; ++b) {
      for (std::int64_t y = rectangle.top; y < rectangle.top + rectangle.height; ++y) {
        for (std::int64_t x = rectangle.left; x < rectangle.left + rectangle.width; ++x) {
          set(c, b, y, x, false);
        }
      }
    }
  }
}

}  // namespace boolgrad::automata
