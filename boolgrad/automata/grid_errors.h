// How good a hardened rule is.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Wrong bits, and grids that have any.
struct GridErrors {
  std::int64_t bits = 0;
  std::int64_t grids = 0;
  std::int64_t all_bits = 0;
  std::int64_t all_grids = 0;

  double accuracy() const {
    return static_cast<double>(all_grids - grids) / static_cast<double>(all_grids);
  }
  double bit_accuracy() const {
    return static_cast<double>(all_bits - bits) / static_cast<double>(all_bits);
  }
};

/// The first channels of `state` against `target` (uint8 [channels, grids, height, width], one grid
/// where it is the target of all). Cells of the rectangles `ignored` do not count.
GridErrors compare(const BitGrid& state, const Tensor& target,
                   const std::vector<Rectangle>& ignored = {});

/// Where the hardened rule leads from `state` in `steps` steps. `fire` has a grid of one channel a
/// step, or none where all cells fire.
BitGrid hard_states(const Rule& rule, BitGrid state, const std::vector<BitGrid>& fire,
                    std::int64_t steps);

}  // namespace boolgrad
