// The tasks of automata.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::data {

/// Target states and, if the task prescribes them, the states to start from.
struct AutomatonTask {
  Tensor target;  ///< uint8 [channels, grids, height, width]; one grid if all have the same target
  Tensor starts;  ///< the same shape; undefined if starts are random

  std::int64_t channels() const { return target.shape()[0]; }
  std::int64_t height() const { return target.shape()[2]; }
  std::int64_t width() const { return target.shape()[3]; }
};

/// One step of Conway's Game of Life on a torus: a cell survives with two or three living
/// neighbours and is born with three. uint8 [grids, height, width].
Tensor life_step(const Tensor& grids);

/// All 512 grids of 3 by 3 cells, and their successors as targets. On a torus of that size all
/// other cells are neighbours, so each neighbourhood occurs nine times.
AutomatonTask life_task();

/// The part of a target that should be grown after `share` of the steps from the cell of
/// `seed_starts`: the ones within `share` of the distance to the farthest one, rounded up.
/// Distances are Chebyshev distances. All other cells are 0.
Tensor grown_part(const Tensor& target, double share);

}  // namespace boolgrad::data
