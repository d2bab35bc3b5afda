// States of automata as pictures.
#pragma once

#include <cstdint>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/picture/image.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The first grid of a state, a pixel a cell: three `channels` as red, green and blue, fewer as the
/// first in black and white.
Image state_image(const BitGrid& state, std::int64_t channels);

/// The same of soft values from 0 to 1, [channels, grids, height, width], in shades.
Image soft_state_image(const Tensor& state);

}  // namespace boolgrad
