// Running straight-line programs on words of 64 samples.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/bit_code.h"

namespace boolgrad::cpu {

/// Runs the program on words [0, words) of every input.
void run_bits(const BitCode& code, const std::uint64_t* const* inputs,
              std::uint64_t* const* outputs, std::size_t words);

}  // namespace boolgrad::cpu
