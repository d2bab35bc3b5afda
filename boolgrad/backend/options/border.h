// What lies outside of a grid. Plain C++17: kernels read it too.
#pragma once

#include <cstdint>
#include <string_view>

namespace boolgrad {

/// Cells whose channels are all 0, or the opposite border.
enum class Border : std::uint8_t { zero, periodic };

constexpr std::string_view to_string(Border border) {
  return border == Border::zero ? "zero" : "periodic";
}

}  // namespace boolgrad
