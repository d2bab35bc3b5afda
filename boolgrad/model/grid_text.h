// Sizes of grids and damage, as command lines give them.
#pragma once

#include <optional>
#include <string_view>

#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/model/simulation.h"

namespace boolgrad {

/// The size in `HEIGHTxWIDTH`, such as 64x64, with numbers of up to nine digits; nothing for other
/// text.
std::optional<circuit::GridSize> grid_size_in(std::string_view text);

/// The damage after a single step in `HEIGHTxWIDTH[+ROW+COLUMN]@stepN`, such as 10x10@step20;
/// nothing for other text. Without a position, it is centred in the grid.
std::optional<Damage> damage_in(std::string_view text, const circuit::GridSize& grid);

}  // namespace boolgrad
