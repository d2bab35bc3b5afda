// States that automata start from.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Every channel of every cell 0 or 1, drawn at (seed, stream, draw): uint8 [channels, grids,
/// height, width].
Tensor random_starts(const Shape& shape, std::uint64_t seed, std::uint32_t stream,
                     std::uint32_t draw = 0);

/// The cell in the middle (below and right of it where there is none) 1 in every channel, all
/// others 0.
Tensor seed_starts(const Shape& shape);

}  // namespace boolgrad
