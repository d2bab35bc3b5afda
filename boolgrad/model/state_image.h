// Images of automaton states.
#pragma once

#include <cstdint>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/picture/image.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The first grid of a state, with one pixel per cell: three `channels` as red, green and blue; two
/// in white and blue; one in black and white.
picture::Image state_image(const automata::BitGrid& state, std::int64_t channels);

/// The same for soft values from 0 to 1, [channels, grids, height, width], in shades.
picture::Image soft_state_image(const Tensor& state);

}  // namespace boolgrad
