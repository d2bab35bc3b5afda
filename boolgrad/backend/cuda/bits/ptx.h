// Programs on bits as text for the driver's compiler. Inside of `cuda/`.
#pragma once

#include <string>

#include "boolgrad/backend/cuda/bits/arguments.h"
#include "boolgrad/backend/plan/bit_code.h"

namespace boolgrad::cuda {

/// The kernel's name.
inline constexpr const char* step_kernel = "step";

/// A kernel `step(from, to, fire)` that takes one step of the grids, in which all cells fire or, if
/// `fires`, those that are 1 in `fire`. A thread computes `rows` words that lie below one another:
/// thread i word i % words of band i / words. Sizes are part of the text, values live in registers,
/// and a step of the program is one instruction.
std::string step_ptx(const BitCode& code, const BitLayout& layout, int rows, bool fires);

}  // namespace boolgrad::cuda
