// Generates PTX for bit programs. Internal to `cuda/`.
#pragma once

#include <string>

#include "boolgrad/backend/cuda/bits/arguments.h"
#include "boolgrad/backend/plan/bit_program_view.h"

namespace boolgrad::cuda {

/// The kernel's name.
inline constexpr const char* step_kernel = "step";

/// A kernel `step(from, to, fire)` that takes one step. All cells fire or, if `fires`, those set in
/// `fire`. A thread computes `rows` words, one below the other: thread i has word i % words of band
/// i / words. Sizes are constants in the code, values are in registers, and each operation of the
/// program is one instruction.
std::string step_ptx(const BitProgramView& code, const BitLayout& layout, int rows, bool fires);

}  // namespace boolgrad::cuda
