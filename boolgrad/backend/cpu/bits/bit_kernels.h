// Bit-parallel execution of straight-line programs on words of 64 samples.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/plan/bit_program_view.h"

namespace boolgrad::cpu {

/// Runs a program on words [0, words) of every input.
void run_bits(const BitProgramView& code, const std::uint64_t* const* inputs,
              std::uint64_t* const* outputs, std::size_t words);

/// Runs only the steps, on scratch [slots, row_words] with filled input slots. `row_words` is a
/// power of two from `min_row_words` to `max_row_words`. Scratch is aligned to a cache line.
void run_bit_steps(const BitProgramView& code, std::size_t row_words, std::uint64_t* scratch);

}  // namespace boolgrad::cpu
