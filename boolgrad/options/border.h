// Boundary conditions of grids. Plain C++17, shared with device kernels.
#pragma once

#include <cstdint>
#include <string_view>

namespace boolgrad {

/// The boundary condition of a grid.
enum class Border : std::uint8_t {
  zero,      ///< cells outside of the grid are 0 in all channels
  periodic,  ///< the grid wraps around
};

/// The name of a boundary condition.
constexpr std::string_view to_string(Border border) {
  return border == Border::zero ? "zero" : "periodic";
}

}  // namespace boolgrad
