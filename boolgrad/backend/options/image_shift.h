// Random shifts of images (augmentation). Plain C++17: kernels read it too.
#pragma once

#include <cstdint>

namespace boolgrad {

/// By how many pixels an image is shifted to the right and down. What comes in at an edge is 0.
struct ImageShift {
  std::int32_t right = 0;
  std::int32_t down = 0;
};

}  // namespace boolgrad
