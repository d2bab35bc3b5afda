// The loss of one output against its target. Plain C++17: kernels read it too.
#pragma once

#include <cstdint>

namespace boolgrad {

enum class LossKind : std::uint8_t { squares, l4, bce, focal };

struct LossOptions {
  LossKind kind = LossKind::squares;
  double focal_gamma = 2;  ///< of `focal`
};

}  // namespace boolgrad
