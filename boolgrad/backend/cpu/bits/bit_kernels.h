// Running straight-line programs on words of 64 samples.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/plan/bit_code.h"

namespace boolgrad::cpu {

/// Runs the program on words [0, words) of every input.
void run_bits(const BitCode& code, const std::uint64_t* const* inputs,
              std::uint64_t* const* outputs, std::size_t words);

/// The steps alone, on scratch [slots, row_words] whose slots of inputs are filled: those of
/// outputs are, then. `row_words` is a power of two between the least and the most; scratch is
/// aligned to a cache line.
void run_bit_steps(const BitCode& code, std::size_t row_words, std::uint64_t* scratch);

}  // namespace boolgrad::cpu
