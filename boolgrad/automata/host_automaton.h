// Training programs of automata on any device, the CPU's among them.
#pragma once

#include <memory>
#include <optional>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/device/automaton.h"

namespace boolgrad {

/// What a program trains besides the rule itself.
struct AutomatonSpec {
  RolloutSize size;  ///< of training rollouts
  std::int64_t extra_steps = 0;
  std::int64_t loss_channels = 1;
  std::int64_t loss_steps = 1;
  LossOptions loss = {};
  double gate_penalty = 0;
  /// What is kept for the backward pass; nothing stands for the fastest that fits.
  std::optional<Memory> memory = {};
  AdamWOptions optimiser = {};
};

/// The CPU's program: the tape, then AdamW, in the rule's own dtype. It shares the memory of the
/// rule's logits, so that they are trained in place.
std::unique_ptr<DeviceAutomaton> make_host_automaton(const Rule& rule, const AutomatonSpec& spec);

/// A program for `rule`, with its parameters and masks, on `device`. Other devices than the CPU
/// refuse rules that are not in float32.
std::unique_ptr<DeviceAutomaton> make_automaton_program(const Device& device, const Rule& rule,
                                                        const AutomatonSpec& spec);

/// The masks of a rule's layers, perception first.
std::vector<Tensor> masks_of(const Rule& rule);

/// How much gates depend on both their inputs, summed: of a table t over inputs a and b, the mean
/// square of its change with a, times that with b. 0 for constants, wires and inverters, 1/4 for
/// AND and its like, 1 for XOR.
Tensor two_input_gates(const std::vector<Tensor>& tables);

}  // namespace boolgrad
