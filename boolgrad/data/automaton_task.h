// The tasks of automata.
#pragma once

#include <cstdint>

#include "boolgrad/data/cell_rule.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::data {

/// Target states and, if the task prescribes them, the states to start from.
struct AutomatonTask {
  /// uint8 [channels, grids, height, width]; one grid if all have the same target. Bits with the
  /// value `any_value` do not count.
  Tensor target;
  Tensor starts;  ///< the same shape; undefined if starts are random
  /// With starts: the number of grids in a training step, sampled in each step if it is less than
  /// all.
  std::int64_t batch = 0;

  std::int64_t channels() const { return target.shape()[0]; }
  std::int64_t height() const { return target.shape()[2]; }
  std::int64_t width() const { return target.shape()[3]; }
};

/// Conway's Game of Life, B3/S23: a cell survives with two or three living neighbours and is born
/// with three.
CellRule conways_rule();

/// One step of Conway's Game of Life on a torus. uint8 [grids, height, width].
Tensor life_step(const Tensor& grids);

/// Which tori a rule is learned from.
enum class Tori : std::uint8_t {
  all,       ///< all grids of 3 by 3 cells: each neighbourhood occurs nine times
  distinct,  ///< one of those that are translations of each other: a ninth of the grids
};

/// Tori of 3 by 3 cells, and their successors as targets. On a torus of that size all other cells
/// are neighbours, so that the tori have every neighbourhood. Cells whose next state is unknown do
/// not count, and tori of such cells only are left out. A training step has `batch` tori, or all if
/// there are fewer.
AutomatonTask rule_task(const CellRule& rule, Tori tori, std::int64_t batch);

/// Life from all 512 tori.
AutomatonTask life_task();

/// The part of a target that should be grown after `share` of the steps from the cell of
/// `seed_starts`: the ones within `share` of the distance to the farthest one, rounded up.
/// Distances are Chebyshev distances. All other cells are 0.
Tensor grown_part(const Tensor& target, double share);

}  // namespace boolgrad::data
