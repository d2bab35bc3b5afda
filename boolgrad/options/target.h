// Targets of automata. Plain C++17: CUDA sources include this header.
#pragma once

#include <cstdint>

namespace boolgrad {

/// A target bit that may have any value: it enters no loss and no count of errors.
inline constexpr std::uint8_t any_value = 2;

/// Whether a target is 0 or 1.
constexpr bool matters(float target) { return target <= 1; }

}  // namespace boolgrad
