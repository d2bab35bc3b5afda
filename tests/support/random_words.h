// Random inputs of bit-parallel evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boolgrad/core/random.h"

namespace boolgrad {

/// Words of 64 random samples.
inline std::vector<std::uint64_t> random_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < count; ++i) {
    const PhiloxCounter bits = random_bits({.seed = seed, .stream = 1, .index = i});
    words.push_back(std::uint64_t{bits[0]} << 32 | bits[1]);
  }
  return words;
}

}  // namespace boolgrad
