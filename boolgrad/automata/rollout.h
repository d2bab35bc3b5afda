// Differentiable rollouts: many steps of all cells of a batch of grids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/options/memory.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::automata {

/// A description such as `every activation`, `the state of every step` or `every 5th state`.
std::string describe(const Memory& memory);

/// The size of a rollout.
struct RolloutSize {
  std::int64_t batch = 1;  ///< number of grids
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t steps = 1;
};

/// The bytes that a memory policy stores for the backward pass.
std::size_t memory_needed(const Rule& rule, const RolloutSize& size, const Memory& memory);

/// The policies worth considering for `size`, the fastest first: the state of every step, every
/// activation, and every n-th state with the n of least memory (gradient checkpointing).
std::vector<Memory> memory_choices(const Rule& rule, const RolloutSize& size);

/// The first of these policies that needs at most `bytes`. Throws if none does.
Memory fitting_memory(const Rule& rule, const RolloutSize& size, std::size_t bytes);

/// Options of `rollout`.
struct RolloutOptions {
  std::int64_t steps = 1;
  std::int64_t returned = 1;  ///< number of final states to return
  Memory memory = {};
  /// uint8 [steps, batch, height, width]: 1 where the state of a cell is rounded after a step, with
  /// a straight-through gradient. Undefined for no rounding.
  Tensor round = {};
};

/// Runs a rule with soft gates from `initial` [channels, batch, height, width], with values between
/// 0 and 1, and returns the last states: [returned, channels, batch, height, width]. `fire`, uint8
/// [steps, batch, height, width], is 1 for cells that update in a step; undefined if all do. The
/// whole rollout is one op on the tape.
Tensor rollout(const Rule& rule, const Tensor& initial, const Tensor& fire,
               const RolloutOptions& options);

/// Runs a rule with other tables than its own: one tensor [gates, 4] per layer, perception first.
Tensor rollout(const Rule& rule, const std::vector<Tensor>& tables, const Tensor& initial,
               const Tensor& fire, const RolloutOptions& options);

/// `rollout` composed of LUT layers and plain ops: the reference for tests.
Tensor rollout_reference(const Rule& rule, const Tensor& initial, const Tensor& fire,
                         const RolloutOptions& options);

/// Random fire masks, uint8 [steps, batch, height, width]: each cell fires with probability `rate`
/// in each step, sampled at (seed, stream, step).
Tensor fire_masks(const RolloutSize& size, double rate, std::uint64_t seed, std::uint32_t stream,
                  std::uint32_t step = 0);

/// Throws if a grid is too small for the border. Periodic borders need at least 3x3 cells, so that
/// no cell is its own neighbour.
void check_grid(Border border, std::int64_t height, std::int64_t width);

}  // namespace boolgrad::automata
