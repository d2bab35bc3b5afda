#include "boolgrad/train/learners/device_automaton_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/core/error.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/model/automaton_evaluation.h"
#include "boolgrad/train/learners/device_options.h"
#include "boolgrad/train/learners/problem.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad {
namespace {

[[noreturn]] void refuse(const Device& device, std::string_view key, std::string_view wanted,
                         const std::string& received) {
  fail(to_string(device), "expected {} = {} on this device, received {}: train on the cpu", key, wanted,
       received);
}

void check_hardening(const Device& device, HardeningKind kind) {
  constexpr std::string_view wanted = "none, blend, gates, states or straight_through";
  if (kind == HardeningKind::temperature) refuse(device, "hardening.kind", wanted, "temperature");
  if (kind == HardeningKind::noise) refuse(device, "hardening.kind", wanted, "noise");
  if (kind == HardeningKind::freeze) refuse(device, "hardening.kind", wanted, "freeze");
}

/// Refuses what trains on the host alone, by the key that asks for it.
void check_supported(const Device& device, const Experiment& experiment) {
  const AutomatonOptions& automaton = experiment.automaton;
  check_hardening(device, experiment.hardening.kind);
  const auto expect = [&](std::string_view key, auto received, auto wanted) {
    if (received != wanted)
      refuse(device, key, fmt::format("{}", wanted), fmt::format("{}", received));
  };
  expect("automaton.loss_steps", automaton.loss_steps, std::int64_t{1});
  expect("automaton.extra_steps", automaton.extra_steps, std::int64_t{0});
  expect("automaton.pool", automaton.pool, std::int64_t{0});
  expect("training.gate_penalty", experiment.training.gate_penalty, 0.0);
}

/// The experiment, once it is known that the device can do what it asks for.
const Experiment& checked(const Device& device, const Experiment& experiment) {
  check_supported(device, experiment);
  return experiment;
}

/// Starts that do not change from step to step.
bool starts_are_fixed(const Experiment& experiment, const AutomatonTask& task) {
  return task.starts.defined() || experiment.automaton.start == StartKind::seed;
}

}  // namespace

DeviceAutomatonEngine::DeviceAutomatonEngine(const Device& device,
                                             const Experiment& experiment,
                                             AutomatonLearner& learner)
    : experiment_(checked(device, experiment)),
      learner_(learner),
      device_(on_device(
          device, learner.rule(), learner.size(),
          {.loss_channels = learner.task().channels(),
           .loss = {experiment.training.loss, experiment.training.focal_gamma},
           .memory =
               experiment.automaton.memory.empty() ? std::nullopt : std::optional(learner.memory()),
           .optimiser = device_optimiser(experiment)})) {
  const AutomatonTask& task = learner.training_task();
  AutomatonInputs inputs{{}, {}, task.target};
  if (starts_are_fixed(experiment, task)) {
    inputs.starts = make_starts(task, experiment.automaton, learner.size(), 0, start_stream, 0);
  }
  device_->set_inputs(inputs);
}

AutomatonDraws DeviceAutomatonEngine::draws(std::int64_t step) const {
  const AutomatonOptions& automaton = experiment_.automaton;
  return {.seed = static_cast<std::uint64_t>(experiment_.seed),
          .draw = static_cast<std::uint32_t>(step),
          .random_starts = !starts_are_fixed(experiment_, learner_.task()),
          .start_stream = start_stream,
          .fire_rate =
              automaton.training_fire_rate > 0 ? automaton.training_fire_rate : automaton.fire_rate,
          .fire_stream = fire_stream,
          .hardening = {.kind = experiment_.hardening.kind,
                        .share = learner_.hardening().share(),
                        .seed = static_cast<std::uint64_t>(experiment_.seed),
                        .stream = hardening_stream,
                        .step = static_cast<std::uint32_t>(step)}};
}

StepResult DeviceAutomatonEngine::step(std::int64_t step, double learning_rate) {
  const AutomatonOutcome outcome = device_->step(draws(step), step, learning_rate, false);
  settled_ = settled_ && !outcome.finite;
  steps_ = outcome.finite ? step + 1 : step;
  return {.loss = outcome.loss, .finite = outcome.finite};
}

AutomatonOutcome DeviceAutomatonEngine::step_with_hard(std::int64_t step, double learning_rate) {
  settled_ = false;
  steps_ = step + 1;
  return device_->step(draws(step), step, learning_rate, true);
}

void DeviceAutomatonEngine::settle() {
  if (settled_) return;
  std::vector<Tensor> parameters = learner_.parameters();
  device_->get_parameters(parameters);
  settled_ = true;
}

AdamWState DeviceAutomatonEngine::moments() const {
  AdamWState state{.step = steps_, .first = {}, .second = {}};
  for (const Tensor& parameter : learner_.parameters()) {
    state.first.emplace_back(parameter.shape(), parameter.dtype());
    state.second.emplace_back(parameter.shape(), parameter.dtype());
  }
  device_->get_moments(state.first, state.second);
  return state;
}

void DeviceAutomatonEngine::restore(const AdamWState& moments) {
  send(learner_.rule(), *device_);
  device_->set_moments(moments.first, moments.second);
  steps_ = moments.step;
  settled_ = true;
}

Evaluation DeviceAutomatonEngine::evaluate() const {
  const AutomatonOptions& options = experiment_.automaton;
  const AutomatonTask& task = learner_.task();
  const std::int64_t batch = learner_.size().batch;
  RolloutSize probe = learner_.size();
  if (!task.starts.defined()) probe.batch = probe_count(options);
  AutomatonDraws drawn = draws(0);
  drawn.start_stream = probe_stream;
  drawn.fire_rate = options.fire_rate;
  drawn.fire_stream = probe_fire_stream;
  AutomatonInputs inputs{{}, {}, task.target};
  if (!drawn.random_starts) {
    inputs.starts = make_starts(task, options, probe, 0, probe_stream, 0);
  }
  Evaluation result;
  const HardOutcome hard = device_->hard_rollout(probe.batch, inputs, drawn);
  const std::int64_t bits = probe.batch * task.channels() * task.height() * task.width();
  result.hard_loss = static_cast<double>(hard.wrong_bits);
  result.hard_accuracy =
      1 - static_cast<double>(hard.wrong_samples) / static_cast<double>(probe.batch);
  result.bit_accuracy = 1 - result.hard_loss / static_cast<double>(bits);

  // Soft rollouts are dear: as many grids as a training step has, the first of those above.
  const std::int64_t few = std::min(batch, probe.batch);
  drawn.samples = probe.batch;
  Tensor last;
  if (inputs.starts.defined()) inputs.starts = slice(inputs.starts, 1, 0, few);
  result.soft_loss = device_->soft_rollout(few, inputs, drawn, last);
  result.soft_accuracy = compare(BitGrid::from(last), task.target).accuracy();
  result.picture = slice(slice(last, 1, 0, 1), 0, 0, task.channels());
  return result;
}

}  // namespace boolgrad
