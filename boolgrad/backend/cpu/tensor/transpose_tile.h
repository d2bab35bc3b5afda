// Transposition of a tile that fits into the cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace boolgrad::cpu {

/// to[r * to_apart + c] = from[c * from_apart + r] for r below `rows` and c below `columns`.
void transpose_tile(const std::uint32_t* from, std::ptrdiff_t from_apart, std::uint32_t* to,
                    std::ptrdiff_t to_apart, std::ptrdiff_t rows, std::ptrdiff_t columns);

/// The same for other element sizes, by a plain loop.
template <class Word>
void transpose_tile(const Word* from, std::ptrdiff_t from_apart, Word* to, std::ptrdiff_t to_apart,
                    std::ptrdiff_t rows, std::ptrdiff_t columns) {
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    for (std::ptrdiff_t c = 0; c < columns; ++c) to[r * to_apart + c] = from[c * from_apart + r];
  }
}

}  // namespace boolgrad::cpu
