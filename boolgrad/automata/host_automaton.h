// Training programs of automata on any device, the CPU included.
#pragma once

#include <memory>
#include <optional>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/device/automaton.h"

namespace boolgrad::automata {

/// The training task of a program.
struct AutomatonSpec {
  RolloutSize size;                ///< of training rollouts
  std::int64_t extra_steps = 0;    ///< steps that a rollout may take beyond `size.steps`
  std::int64_t loss_channels = 1;  ///< the first channels, compared with the target
  std::int64_t loss_steps = 1;     ///< the last states, compared with the target
  LossOptions loss = {};
  double gate_penalty = 0;  ///< weight of `logic::two_input_gates` in the loss
  /// What is stored for the backward pass. By default the fastest policy that fits in memory.
  std::optional<Memory> memory = {};
  AdamWOptions optimiser = {};
};

/// The CPU program: gradients from the tape, then AdamW, in the dtype of the rule. It trains the
/// logits of the rule in place.
std::unique_ptr<DeviceAutomaton> make_host_automaton(const Rule& rule, const AutomatonSpec& spec);

/// A program for `rule` on `device`. GPUs support float32 only; other dtypes throw.
std::unique_ptr<DeviceAutomaton> make_automaton_program(const Device& device, const Rule& rule,
                                                        const AutomatonSpec& spec);

/// The masks of a rule's layers, perception first.
std::vector<Tensor> masks_of(const Rule& rule);

}  // namespace boolgrad::automata
