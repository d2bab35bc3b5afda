// Errors of a hardened rule against a target.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::automata {

/// Counts of errors.
struct GridErrors {
  std::int64_t bits = 0;       ///< bits that differ from the target
  std::int64_t grids = 0;      ///< grids with at least one such bit
  std::int64_t all_bits = 0;   ///< bits compared
  std::int64_t all_grids = 0;  ///< grids compared

  /// The fraction of grids without errors.
  double accuracy() const {
    return static_cast<double>(all_grids - grids) / static_cast<double>(all_grids);
  }
  /// The fraction of correct bits.
  double bit_accuracy() const {
    return static_cast<double>(all_bits - bits) / static_cast<double>(all_bits);
  }
};

/// Whether a target has bits that may have any value.
bool has_any_value(const Tensor& target);

/// Compares the first channels of `state` with `target`, uint8 [channels, grids or 1, height,
/// width]. Cells inside the rectangles `ignored` do not count, nor do bits whose target is
/// `any_value`.
GridErrors compare(const BitGrid& state, const Tensor& target,
                   const std::vector<Rectangle>& ignored = {});

/// The state after `steps` steps of the hardened rule. `fire` holds one grid of one channel per
/// step, or is empty if all cells fire.
BitGrid hard_states(const Rule& rule, BitGrid state, const std::vector<BitGrid>& fire,
                    std::int64_t steps);

/// The errors of the hardened rule in the last `counted` of the states after 1 to `steps` steps.
/// Bits are added up; grids are those of the state with the most grids with errors.
GridErrors hard_errors(const Rule& rule, const BitGrid& starts, const std::vector<BitGrid>& fire,
                       std::int64_t steps, std::int64_t counted, const Tensor& target);

}  // namespace boolgrad::automata
