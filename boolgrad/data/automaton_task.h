// What automata are to learn.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// States to reach, and where they are given, the states to start from.
struct AutomatonTask {
  Tensor target;  ///< uint8 [channels, grids, height, width]; one grid where all are to become it
  Tensor starts;  ///< the same; undefined where they are drawn

  std::int64_t channels() const { return target.shape()[0]; }
  std::int64_t height() const { return target.shape()[2]; }
  std::int64_t width() const { return target.shape()[3]; }
};

/// Conway's rule on a torus: a cell lives on with two or three living neighbours and is born with
/// three. uint8 [grids, height, width].
Tensor life_step(const Tensor& grids);

/// All 512 grids of 3 by 3 cells as starts and what they become after a step. On a torus of that
/// size the neighbours of a cell are all others, so that each neighbourhood comes up nine times.
AutomatonTask life_task();

/// What of a target should be there once `share` of its way is grown from the cell that
/// `seed_starts` sets: ones that lie within that share, rounded up, of the way to the farthest one,
/// counted in steps to one of eight neighbours. All else is 0.
Tensor grown_part(const Tensor& target, double share);

}  // namespace boolgrad
