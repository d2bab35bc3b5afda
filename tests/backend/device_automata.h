// Automata on a device, and the reference implementation on the tape.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/host_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/logic/hardening.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {

struct AutomatonScene {
  automata::RuleShape shape;
  automata::RolloutSize size;
  Border border = Border::zero;
  double fire_rate = 1;
  Parametrisation parametrisation = Parametrisation::softmax16;
};

inline automata::Rule rule_of(const AutomatonScene& scene) {
  return automata::Rule::make(scene.shape, scene.border, scene.parametrisation, DType::float32,
                              {logic::Initialisation::gaussian, 1}, 7);
}

/// Training settings apart from rule and sizes.
struct AutomatonTraining {
  std::int64_t extra_steps = 0;
  std::int64_t loss_channels = 0;  ///< 0: all
  std::int64_t loss_steps = 1;
  LossOptions loss = {};
  double gate_penalty = 0;
  Memory memory = {};
  AdamWOptions optimiser = {};
};

inline std::unique_ptr<DeviceAutomaton> automaton_on_device(const Device& device,
                                                            const automata::Rule& rule,
                                                            const automata::RolloutSize& size,
                                                            const AutomatonTraining& training) {
  return automata::make_automaton_program(
      device, rule,
      {.size = size,
       .extra_steps = training.extra_steps,
       .loss_channels = training.loss_channels > 0 ? training.loss_channels : rule.channels(),
       .loss_steps = training.loss_steps,
       .loss = training.loss,
       .gate_penalty = training.gate_penalty,
       .memory = training.memory,
       .optimiser = training.optimiser});
}

/// Random initial states and targets.
inline AutomatonInputs inputs_for(const AutomatonScene& scene, std::int64_t loss_channels = 0) {
  const automata::RolloutSize& size = scene.size;
  const std::int64_t channels = scene.shape.channels;
  const auto bits = [&](std::int64_t count, std::uint64_t seed) {
    return cast(automata::random_starts({count, size.batch, size.height, size.width}, seed, 1),
                DType::float32);
  };
  return {.starts = bits(channels, 1),
          .fire = {},
          .target = bits(loss_channels > 0 ? loss_channels : channels, 2)};
}

/// The gate penalty of a table t over inputs a and b: the mean square of its change with a, times
/// that with b.
inline Tensor penalty_on_tape(const std::vector<Tensor>& tables) {
  Tensor total;
  for (const Tensor& table : tables) {
    const auto change = [&](std::int64_t from, std::int64_t to) {
      const Tensor difference =
          subtract(slice(table, 1, to, to + 1), slice(table, 1, from, from + 1));
      return scale(multiply(difference, difference), 0.5);
    };
    const Tensor gates =
        sum(multiply(add(change(0, 1), change(2, 3)), add(change(0, 2), change(1, 3))));
    total = total.defined() ? add(total, gates) : gates;
  }
  return total;
}

/// The tables of a training step on the tape.
inline std::vector<Tensor> step_tables(const automata::Rule& rule,
                                       const RolloutArguments& arguments) {
  const HardeningStep& hardening = arguments.hardening;
  const std::vector<Tensor> logits =
      logic::hardened_logits(hardening, rule.parameters(), rule.update().parametrisation());
  const auto perceived = static_cast<std::ptrdiff_t>(rule.perceive().layers().size());
  std::vector<Tensor> tables = rule.perceive().tables({logits.begin(), logits.begin() + perceived});
  const std::vector<Tensor> update =
      rule.update().tables({logits.begin() + perceived, logits.end()});
  tables.insert(tables.end(), update.begin(), update.end());
  return logic::hardened_tables(hardening, tables, rule.hard_tables(),
                                {arguments.frozen.begin(), arguments.frozen.end()});
}

struct RolloutOnTape {
  Tensor loss;
  Tensor states;  ///< final states [loss steps, channels, batch, height, width]
};

/// A training rollout from the given initial states.
inline RolloutOnTape rollout_on_tape(const automata::Rule& rule, automata::RolloutSize size,
                                     const AutomatonTraining& training,
                                     const AutomatonInputs& inputs,
                                     const RolloutArguments& arguments) {
  if (arguments.steps > 0) size.steps = arguments.steps;
  const Tensor fire = inputs.fire.defined() ? inputs.fire
                      : arguments.fire_rate < 1
                          ? automata::fire_masks(size, arguments.fire_rate, arguments.seed,
                                                 arguments.fire_stream, arguments.random_step)
                          : Tensor();
  const HardeningStep& hardening = arguments.hardening;
  Tensor round;
  if (hardening.kind == HardeningKind::states && hardening.share > 0) {
    round = automata::fire_masks(size, hardening.share, hardening.seed, hardening.stream,
                                 hardening.step);
    const auto cells = static_cast<std::size_t>(size.batch * size.height * size.width);
    std::ranges::fill(round.mutable_values<std::uint8_t>().last(cells), std::uint8_t{0});
  }
  const Tensor states = automata::rollout(
      rule, step_tables(rule, arguments), inputs.starts, fire,
      {.steps = size.steps, .returned = std::min(training.loss_steps, size.steps), .round = round});
  const std::int64_t channels =
      training.loss_channels > 0 ? training.loss_channels : rule.channels();
  const Tensor shown = slice(states, 1, 0, channels);
  const Tensor target = add(inputs.target, Tensor::zeros(shown.shape(), shown.dtype()));
  Tensor loss = training.loss.kind == LossKind::bce ? binary_cross_entropy(shown, target)
                                                    : sum_of_squares(shown, target);
  if (training.gate_penalty > 0) {
    loss = add(loss, scale(penalty_on_tape(rule.tables()), training.gate_penalty));
  }
  return {loss, states};
}

}  // namespace boolgrad
