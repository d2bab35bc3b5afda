// Pictures that are moved a little, as kernels of any device read them.
#pragma once

#include <cstdint>

namespace boolgrad {

/// By how many pixels a picture is moved to the right and down. What comes in at an edge is 0.
struct PictureMove {
  std::int32_t right = 0;
  std::int32_t down = 0;
};

}  // namespace boolgrad
