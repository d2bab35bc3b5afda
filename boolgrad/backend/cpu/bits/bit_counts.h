// How many of many bits are 1, for every sample of a row at once: counters of bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "boolgrad/backend/plan/bit_code.h"

namespace boolgrad::cpu {

/// Terms are counted so many at a time.
inline constexpr std::size_t term_block = 16;

/// Counts the terms, a multiple of `term_block`, which are rows of `row_words` words (a multiple of
/// 8) in `scratch`: digit p of the counts goes to counts[p * row_words], the lowest first. `planes`
/// digits must hold the largest count. All rows are aligned to a cache line.
void count_rows(const std::uint64_t* scratch, std::size_t row_words, std::span<const BitTerm> terms,
                std::size_t planes, std::uint64_t* counts);

/// Of `classes` counts of `planes` digits, one after the other as `count_rows` leaves them, the
/// index of the largest, the first of equal ones: digit p of it at indices[p * row_words].
/// `largest` is scratch of `planes` rows. At least one class, and as many digits as its index has.
void first_largest(const std::uint64_t* counts, std::size_t classes, std::size_t planes,
                   std::size_t row_words, std::uint64_t* largest, std::size_t index_planes,
                   std::uint64_t* indices);

}  // namespace boolgrad::cpu
