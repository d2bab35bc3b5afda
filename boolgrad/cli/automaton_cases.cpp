#include "boolgrad/cli/automaton_cases.h"

#include <nlohmann/json.hpp>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::cli {
namespace {

constexpr Precision precisions[] = {{DType::float64, 1e-9}, {DType::float32, 1e-4}};
constexpr const char* mark = "/perceive.0.logits";

std::int64_t setting(const ReferenceCase& of, const char* name) {
  const nlohmann::json& settings = of.settings();
  if (!settings.contains(name) || !settings[name].is_number_integer()) {
    fail("verify", "{}: expected the setting {} of case {}, received none", of.path().string(),
         name, of.name());
  }
  return settings[name].get<std::int64_t>();
}

bool is_on(const ReferenceCase& of, const char* name) {
  const nlohmann::json& settings = of.settings();
  return settings.contains(name) && settings[name].is_boolean() && settings[name].get<bool>();
}

/// Logits [kernels, gates, 16], as in files, to [gates * kernels, 16] and back.
Tensor interleaved_kernels(const Tensor& logits) {
  if (logits.rank() != 3) {
    fail("verify", "expected logits [kernels, gates, 16], received {}", to_string(logits.shape()));
  }
  const Shape& shape = logits.shape();
  return reshape(transpose(logits, Axes{1, 0, 2}), {shape[0] * shape[1], shape[2]});
}

Tensor separate_kernels(const Tensor& logits, std::int64_t kernels) {
  return transpose(reshape(logits, {-1, kernels, logits.shape()[1]}), Axes{1, 0, 2});
}

logic::Network perceive_of(const ReferenceCase& of, std::int64_t kernels, DType dtype) {
  logic::Network network(9, Parametrisation::softmax16, dtype);
  for (std::size_t i = 0; of.has(fmt::format("perceive.{}.logits", i)); ++i) {
    const Tensor& wires = of.tensor(fmt::format("perceive.{}.wires", i));
    const std::int64_t inputs = network.outputs() / (i == 0 ? 1 : kernels);
    const logic::WiringPtr wiring =
        i == 0 ? std::make_shared<const logic::Wiring>(inputs, wires, kernels)
               : logic::interleaved(logic::Wiring(inputs, wires), kernels);
    network.add_layer(
        wiring, cast(interleaved_kernels(of.tensor(fmt::format("perceive.{}.logits", i))), dtype));
  }
  return network;
}

logic::Network update_of(const ReferenceCase& of, std::int64_t inputs, DType dtype) {
  logic::Network network(inputs, Parametrisation::softmax16, dtype);
  for (std::size_t i = 0; of.has(fmt::format("update.{}.logits", i)); ++i) {
    network.add_layer(std::make_shared<const logic::Wiring>(
                          network.outputs(), of.tensor(fmt::format("update.{}.wires", i))),
                      cast(of.tensor(fmt::format("update.{}.logits", i)), dtype));
  }
  return network;
}

automata::Rule rule_of(const ReferenceCase& of, DType dtype) {
  const std::int64_t kernels = setting(of, "kernels");
  logic::Network perceive = perceive_of(of, kernels, dtype);
  const std::int64_t inputs = setting(of, "channels") * (1 + perceive.outputs());
  return {is_on(of, "periodic") ? Border::periodic : Border::zero, kernels, std::move(perceive),
          update_of(of, inputs, dtype)};
}

/// [batch, height, width, channels], as in files, to [channels, batch, height, width].
Tensor channel_first(const Tensor& state, DType dtype) {
  if (state.rank() != 4) {
    fail("verify", "expected a state [batch, height, width, channels], received {}",
         to_string(state.shape()));
  }
  return cast(transpose(state, Axes{3, 0, 1, 2}), dtype);
}

/// [steps, channels, batch, height, width] to the order of files.
Tensor channel_last(const Tensor& states) { return transpose(states, Axes{0, 2, 3, 4, 1}); }

/// The states of a file without the start.
Tensor without_start(const Tensor& states) { return slice(states, 0, 1, states.shape()[0]); }

Tensor fire_of(const ReferenceCase& of) {
  if (!is_on(of, "asynchronous")) return {};
  const Tensor& mask = of.tensor("fire_mask");
  Shape shape = mask.shape();
  shape.pop_back();
  return cast(mask.viewed_as(shape), DType::uint8);
}

/// All states of the hardened rule, computed on bits: [steps, channels, batch, height, width].
Tensor hard_states(const automata::Rule& rule, const Tensor& initial, const Tensor& fire,
                   std::int64_t steps) {
  automata::BitAutomaton automaton(rule);
  automata::BitGrid state = automata::BitGrid::from(initial);
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < steps; ++t) {
    automaton.step(state, fire, t);
    states.push_back(state.to_tensor(initial.dtype()));
  }
  return stack(states);
}

void verify_case(const AutomatonCase& of, const std::string& name, const Precision& precision,
                 const Device& device, std::vector<Check>& checks) {
  const Comparison compare(name, precision, checks);
  const AutomatonValues values = device.is_cpu() ? of.values() : of.values_on(device);
  if (of.has("soft_states")) {
    compare.add("soft_states", values.soft_states, without_start(of.reference("soft_states")));
  }
  if (of.has("hard_states")) {
    compare.add("hard_states", values.hard_states, without_start(of.reference("hard_states")), 0);
  }
  for (const auto& [part, value] : values.named()) compare.add(part, value, of.reference(part));
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> AutomatonValues::named() const {
  std::vector<std::pair<std::string, Tensor>> all{{"loss", loss}};
  all.insert(all.end(), gradients.begin(), gradients.end());
  return all;
}

AutomatonCase::AutomatonCase(const std::filesystem::path& path, const TensorFile& file,
                             const std::string& name, DType dtype)
    : of_(path, file, name),
      rule_(rule_of(of_, dtype)),
      steps_(setting(of_, "steps")),
      initial_(channel_first(of_.tensor("initial"), dtype)),
      target_(channel_first(of_.tensor("target"), dtype)),
      fire_(fire_of(of_)) {}

automata::RolloutSize AutomatonCase::size() const {
  const Shape& shape = initial_.shape();
  return {shape[1], shape[2], shape[3], steps_};
}

Tensor AutomatonCase::loss() const {
  return loss_at(automata::rollout(rule_, initial_, fire_, {.steps = steps_}));
}

/// The loss of the last of `states`.
Tensor AutomatonCase::loss_at(const Tensor& states) const {
  const Shape& shape = states.shape();
  const Tensor last =
      reshape(slice(states, 0, shape[0] - 1, shape[0]), {shape[1], shape[2], shape[3], shape[4]});
  return sum_of_squares(slice(last, 0, 0, setting(of_, "loss_channels")), target_);
}

AutomatonValues AutomatonCase::values() const {
  AutomatonValues values;
  const Tensor states =
      automata::rollout(rule_, initial_, fire_, {.steps = steps_, .returned = steps_});
  values.soft_states = channel_last(states.detach());
  values.hard_states = channel_last(hard_states(rule_, initial_, fire_, steps_));
  const Tensor loss = loss_at(states);
  values.loss = loss.detach();
  name_gradients(grad(loss, rule_.parameters()), values);
  return values;
}

void AutomatonCase::name_gradients(const std::vector<Tensor>& gradients,
                                   AutomatonValues& values) const {
  const std::size_t perceive = rule_.perceive().layers().size();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (i < perceive) {
      values.gradients.emplace_back(fmt::format("perceive.{}.grad", i),
                                    separate_kernels(gradients[i], rule_.kernels()));
    } else {
      values.gradients.emplace_back(fmt::format("update.{}.grad", i - perceive), gradients[i]);
    }
  }
}

automata::AutomatonSpec AutomatonCase::spec_for(const automata::RolloutSize& size) const {
  return {.size = size, .loss_channels = setting(of_, "loss_channels")};
}

std::unique_ptr<DeviceAutomaton> AutomatonCase::on(const Device& device) const {
  auto automaton = automata::make_automaton_program(device, rule_, spec_for(size()));
  automaton->set_inputs({initial_, fire_, target_});
  return automaton;
}

AutomatonValues AutomatonCase::values_on(const Device& device) const {
  const automata::RolloutSize now = size();
  const auto automaton = on(device);
  AutomatonValues values;
  values.loss = Tensor::scalar(automaton->gradients({}), DType::float64);
  const Tensor states = automaton->states().viewed_from(
      initial_.size(), {steps_, rule_.channels(), now.batch, now.height, now.width});
  values.soft_states = channel_last(states);
  values.hard_states = channel_last(hard_states_on(device));
  name_gradients(automaton->parameter_gradients(), values);
  return values;
}

/// A rollout returns only its last state, so there is one rollout per number of steps.
Tensor AutomatonCase::hard_states_on(const Device& device) const {
  std::vector<Tensor> states;
  for (std::int64_t steps = 1; steps <= steps_; ++steps) {
    automata::RolloutSize some = size();
    some.steps = steps;
    const auto automaton = automata::make_automaton_program(device, rule_, spec_for(some));
    automaton->hard_rollout(some.batch, {initial_, fire_, target_}, {});
    states.push_back(cast(automaton->hard_state(), initial_.dtype()));
  }
  return stack(states);
}

std::set<std::string> automaton_case_names(const TensorFile& file) {
  return case_names(file, mark);
}

bool holds_automaton_cases(const TensorFile& file) { return !case_names(file, mark).empty(); }

std::vector<Check> verify_automata(const std::filesystem::path& path, const TensorFile& file,
                                   const Device& device) {
  std::vector<Check> checks;
  for (const std::string& name : case_names(file, mark)) {
    for (const Precision& precision : precisions) {
      // Devices compute in float32.
      if (!device.is_cpu() && precision.dtype != DType::float32) continue;
      verify_case(AutomatonCase(path, file, name, precision.dtype), name, precision, device,
                  checks);
    }
  }
  return checks;
}

}  // namespace boolgrad::cli
