// Cellular automata of soft look-up tables: many steps forward, and backward through time.
//
// A tile of cells goes through a whole step, perception and update, while its activations are in
// the cache. Tiles of a step run in parallel. The backward pass goes through the steps in reverse.
// A tile stores the gradients of the values that it read from its nine neighbours, and the tiles of
// the previous step gather them: nothing is scattered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/cpu/automaton/grid.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// A non-owning view of a rule. Perception maps the nine values of one channel to the outputs of
/// all kernels. The update reads the channels and then, channel by channel, the outputs of
/// perception.
struct RuleView {
  std::int64_t channels = 0;
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;
  std::span<const Tensor> coefficients;  ///< of the layers of `perceive`, then of `update`

  /// Perception outputs per channel.
  std::int64_t perceived() const { return perceive.back().gates; }
};

/// Masks of every step and cell, uint8 [steps, cells]. Each may be undefined.
struct RolloutMasks {
  Tensor fire;   ///< 1 where a cell updates
  Tensor round;  ///< 1 where the new state is rounded to 0 or 1; gradients pass straight through
};

/// The size of a rollout.
struct RolloutShape {
  Grid grid;
  std::int64_t steps = 1;
  /// Keeps every n-th state for the backward pass, the first included. 0 keeps all activations.
  std::int64_t keep_every = 1;
  std::int64_t returned = 1;  ///< number of final states to return, the initial state excluded
};

/// The data that the forward pass keeps for the backward pass.
struct RolloutTrace {
  Tensor states;       ///< padded: [kept, channels, plane]; undefined if activations are kept
  Tensor activations;  ///< [steps, tiles, rows, tile]; undefined if they are recomputed
};

/// The size in bytes of the trace of a rollout.
std::size_t trace_bytes(const RuleView& rule, const RolloutShape& shape, DType dtype);

/// Runs the forward pass. `initial` is [channels, cells]; `out` receives [returned, channels,
/// cells]. Without a `trace` nothing is kept.
void rollout_forward(const RuleView& rule, const RolloutShape& shape, const Tensor& initial,
                     const RolloutMasks& masks, Tensor& out, RolloutTrace* trace);

/// Computes the gradients of the coefficients and, if `initial` is given, of the initial state.
void rollout_backward(const RuleView& rule, const RolloutShape& shape, const RolloutMasks& masks,
                      const RolloutTrace& trace, const Tensor& upstream,
                      std::vector<Tensor>& coefficients, Tensor* initial);

}  // namespace boolgrad::cpu
