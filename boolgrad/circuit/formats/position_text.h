// Expressions of what kernels read, valid in C and in Verilog.
#pragma once

#include <cstdint>
#include <string>

#include "boolgrad/circuit/shared_circuit.h"

namespace boolgrad::circuit {

/// The index of the bit that a leaf reads at row y and column x, such as `28 * y + x + 3`. `offset`
/// is added to it.
std::string index_text(const SharedStage& stage, const SharedLeaf& leaf, std::int64_t offset = 0);

/// The index of position (y, x), plus `offset`.
std::string position_text(const SharedStage& stage, std::int64_t offset = 0);

/// The condition for a leaf to read a bit at row y and column x, such as `y >= 1 && x < 27`. Empty
/// if it always does; `0` if it never does.
std::string inside_text(const SharedStage& stage, const SharedLeaf& leaf);

}  // namespace boolgrad::circuit
