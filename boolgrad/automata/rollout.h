// Running a rule: many steps of all cells of many grids, with a derivative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/options/memory.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// `every activation`, `the state of every step`, `every 5th state`.
std::string describe(const Memory& memory);

/// Sizes of a rollout.
struct RolloutSize {
  std::int64_t batch = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t steps = 1;
};

/// Bytes that a policy keeps for the backward.
std::size_t memory_needed(const Rule& rule, const RolloutSize& size, const Memory& memory);

/// The policies worth considering for `size`, the quickest first: the state of every step, every
/// activation, and the n-th states with the n that takes the least memory.
std::vector<Memory> memory_choices(const Rule& rule, const RolloutSize& size);

/// The first of them that needs at most `bytes`. Throws where none does.
Memory fitting_memory(const Rule& rule, const RolloutSize& size, std::size_t bytes);

struct RolloutOptions {
  std::int64_t steps = 1;
  std::int64_t returned = 1;  ///< states to return: the last ones
  Memory memory = {};
  /// uint8 [steps, batch, height, width]: 1 where the state of a cell is rounded to 0 or 1 after a
  /// step, while gradients pass as if it were not; undefined where none is.
  Tensor round = {};
};

/// The states that soft gates lead to, [returned, channels, batch, height, width], from `initial`
/// [channels, batch, height, width] of values between 0 and 1. `fire`, uint8 [steps, batch,
/// height, width], says which cells update in which step, 1 for those that do; undefined where all
/// do. One op on the tape.
Tensor rollout(const Rule& rule, const Tensor& initial, const Tensor& fire,
               const RolloutOptions& options);

/// The same with other tables than the rule's own: one [gates, 4] a layer, those of perception
/// first.
Tensor rollout(const Rule& rule, const std::vector<Tensor>& tables, const Tensor& initial,
               const Tensor& fire, const RolloutOptions& options);

/// What `rollout` computes, written with LUT layers and plain ops: the reference it is tested
/// against.
Tensor rollout_reference(const Rule& rule, const Tensor& initial, const Tensor& fire,
                         const RolloutOptions& options);

/// Fire masks [steps, batch, height, width]: each cell fires with probability `rate` in each step,
/// drawn at (seed, stream, draw).
Tensor fire_masks(const RolloutSize& size, double rate, std::uint64_t seed, std::uint32_t stream,
                  std::uint32_t draw = 0);

/// Throws where a grid is too small for the border: a periodic one needs 3 by 3 cells, so that no
/// cell is its own neighbour.
void check_grid(Border border, std::int64_t height, std::int64_t width);

}  // namespace boolgrad
