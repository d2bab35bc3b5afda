// Images for tests.
#pragma once

#include "boolgrad/core/random.h"
#include "boolgrad/picture/image.h"

namespace boolgrad {

/// An image of random pixels.
inline picture::Image random_image(std::int64_t width, std::int64_t height, std::uint64_t seed) {
  picture::Image image = picture::filled_image(width, height, picture::black);
  std::uint64_t index = 0;
  const auto level = [&] {
    return static_cast<std::uint8_t>(random_below({.seed = seed, .index = index++}, 256));
  };
  for (picture::Colour& pixel : image.pixels) pixel = {level(), level(), level()};
  return image;
}

}  // namespace boolgrad
