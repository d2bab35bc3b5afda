// Bit-sliced population counts: the number of set bits for every sample of a row at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/bit_program_view.h"

namespace boolgrad::cpu {

/// The number of terms that are counted at a time.
inline constexpr std::size_t term_block = 16;

/// Counts terms for every sample; those of list e count 2^e times. Terms are rows of `row_words`
/// words (a multiple of 8) in `scratch`; the size of a list is a multiple of `term_block`. Bit p of
/// the counts goes to counts[p * row_words]. `planes` bits must hold the largest count. All rows
/// are aligned to a cache line.
void count_rows(const std::uint64_t* scratch, std::size_t row_words,
                std::span<const std::vector<BitTerm>> terms, std::size_t planes,
                std::uint64_t* counts);

/// The argmax over `classes` counts of `planes` bits, in the layout of `count_rows`; the first one
/// on a tie. Bit p of the index goes to indices[p * row_words], for `index_planes` bits. `largest`
/// is scratch of `planes` rows. There must be at least one class.
void first_largest(const std::uint64_t* counts, std::size_t classes, std::size_t planes,
                   std::size_t row_words, std::uint64_t* largest, std::size_t index_planes,
                   std::uint64_t* indices);

}  // namespace boolgrad::cpu
