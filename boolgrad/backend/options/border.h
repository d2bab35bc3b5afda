// What lies outside of a grid. Plain C++17: kernels read it too.
#pragma once

#include <cstdint>

namespace boolgrad {

/// Cells whose channels are all 0, or the opposite border.
enum class Border : std::uint8_t { zero, periodic };

}  // namespace boolgrad
