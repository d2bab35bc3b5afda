// Cellular automata of soft look-up tables: many steps forward, and backward through time.
//
// A tile of cells walks through a whole step, perception and update, while its activations are in
// the cache; tiles of one step run side by side, steps one after the other. Backward goes through
// the steps in reverse. A tile leaves the gradient of what it read from each of its nine
// neighbours, and the tiles of the step before gather from there: nothing is scattered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/cpu/automaton/grid.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// A rule as its kernels read it. Perception maps the nine values of one channel to those of all
/// kernels; the update reads the channels and then, channel by channel, what perception made of
/// each.
struct RuleView {
  std::int64_t channels = 0;
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;
  std::span<const Tensor> coefficients;  ///< of the layers of `perceive`, then of `update`

  std::int64_t perceived() const { return perceive.back().gates; }
};

/// Masks of every step and cell, uint8 [steps, cells]; undefined where there are none.
struct RolloutMasks {
  Tensor fire;   ///< 1 where a cell updates
  Tensor round;  ///< 1 where what it becomes is rounded to 0 or 1; gradients pass all the same
};

struct RolloutShape {
  Grid grid;
  std::int64_t steps = 1;
  /// States to keep for the backward: every n-th, the first included. 0 keeps all activations.
  std::int64_t keep_every = 1;
  std::int64_t returned = 1;  ///< states to return: the last ones, the start never
};

/// What the forward leaves for the backward.
struct RolloutTrace {
  Tensor states;       ///< padded: [kept, channels, plane]; undefined where activations are kept
  Tensor activations;  ///< [steps, tiles, rows, tile]; undefined where they are computed again
};

/// What each way of keeping needs for the backward, in bytes.
std::size_t trace_bytes(const RuleView& rule, const RolloutShape& shape, DType dtype);

/// `initial` is [channels, cells]; `out` receives [returned, channels, cells]. Without a `trace`
/// nothing is kept.
void rollout_forward(const RuleView& rule, const RolloutShape& shape, const Tensor& initial,
                     const RolloutMasks& masks, Tensor& out, RolloutTrace* trace);

/// Gradients of the coefficients and, where `initial` is given, of the start.
void rollout_backward(const RuleView& rule, const RolloutShape& shape, const RolloutMasks& masks,
                      const RolloutTrace& trace, const Tensor& upstream,
                      std::vector<Tensor>& coefficients, Tensor* initial);

}  // namespace boolgrad::cpu
