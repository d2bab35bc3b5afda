// Initial states of automata.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::automata {

/// Random initial states, uint8 [channels, grids, height, width]: every channel of every cell is 0
/// or 1, sampled at (seed, stream, step).
Tensor random_starts(const Shape& shape, std::uint64_t seed, std::uint32_t stream,
                     std::uint32_t step = 0);

/// Initial states with a seed: the cell at (height / 2, width / 2) is 1 in every channel, all
/// others are 0.
Tensor seed_starts(const Shape& shape);

}  // namespace boolgrad::automata
