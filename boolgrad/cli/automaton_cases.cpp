#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/cli/reference.h"
#include "boolgrad/core/error.h"
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

/// Logits [kernels, gates, 16], as files hold them, to [gates * kernels, 16] and back.
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

LogicNetwork perceive_of(const ReferenceCase& of, std::int64_t kernels, DType dtype) {
  LogicNetwork network(9, Parametrisation::softmax16, dtype);
  for (std::size_t i = 0; of.has(fmt::format("perceive.{}.logits", i)); ++i) {
    const Tensor& wires = of.tensor(fmt::format("perceive.{}.wires", i));
    const std::int64_t inputs = network.outputs() / (i == 0 ? 1 : kernels);
    const WiringPtr wiring = i == 0 ? std::make_shared<const Wiring>(inputs, wires, kernels)
                                    : interleaved(Wiring(inputs, wires), kernels);
    network.add_layer(
        wiring, cast(interleaved_kernels(of.tensor(fmt::format("perceive.{}.logits", i))), dtype));
  }
  return network;
}

LogicNetwork update_of(const ReferenceCase& of, std::int64_t inputs, DType dtype) {
  LogicNetwork network(inputs, Parametrisation::softmax16, dtype);
  for (std::size_t i = 0; of.has(fmt::format("update.{}.logits", i)); ++i) {
    network.add_layer(std::make_shared<const Wiring>(network.outputs(),
                                                     of.tensor(fmt::format("update.{}.wires", i))),
                      cast(of.tensor(fmt::format("update.{}.logits", i)), dtype));
  }
  return network;
}

Rule rule_of(const ReferenceCase& of, DType dtype) {
  const std::int64_t kernels = setting(of, "kernels");
  LogicNetwork perceive = perceive_of(of, kernels, dtype);
  const std::int64_t inputs = setting(of, "channels") * (1 + perceive.outputs());
  return {is_on(of, "periodic") ? Border::periodic : Border::zero, kernels, std::move(perceive),
          update_of(of, inputs, dtype)};
}

/// [batch, height, width, channels], as files hold it, to [channels, batch, height, width].
Tensor channel_first(const Tensor& state, DType dtype) {
  if (state.rank() != 4) {
    fail("verify", "expected a state [batch, height, width, channels], received {}",
         to_string(state.shape()));
  }
  return cast(transpose(state, Axes{3, 0, 1, 2}), dtype);
}

/// [steps, channels, batch, height, width] to what files hold.
Tensor channel_last(const Tensor& states) { return transpose(states, Axes{0, 2, 3, 4, 1}); }

/// States after the start, as the file holds them.
Tensor without_start(const Tensor& states) { return slice(states, 0, 1, states.shape()[0]); }

Tensor fire_of(const ReferenceCase& of) {
  if (!is_on(of, "asynchronous")) return {};
  const Tensor& mask = of.tensor("fire_mask");
  Shape shape = mask.shape();
  shape.pop_back();
  return cast(mask.viewed_as(shape), DType::uint8);
}

/// The hard tables of a rule as numbers: run like soft ones they give the hard states.
std::vector<Tensor> hard_tables_as(const Rule& rule, DType dtype) {
  std::vector<Tensor> tables;
  for (const Tensor& table : rule.hard_tables()) tables.push_back(cast(table, dtype));
  return tables;
}

void compare_gradients(const ReferenceCase& of, const Rule& rule, const Tensor& loss,
                       const Comparison& compare) {
  const std::vector<Tensor> gradients = grad(loss, rule.parameters());
  const std::size_t perceive = rule.perceive().layers().size();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const std::string name = i < perceive ? fmt::format("perceive.{}.grad", i)
                                          : fmt::format("update.{}.grad", i - perceive);
    compare.add(name, i < perceive ? separate_kernels(gradients[i], rule.kernels()) : gradients[i],
                of.tensor(name));
  }
}

void verify_case(const ReferenceCase& of, const Precision& precision, std::vector<Check>& checks) {
  const Comparison compare(of.name(), precision, checks);
  const Rule rule = rule_of(of, precision.dtype);
  const std::int64_t steps = setting(of, "steps");
  const Tensor initial = channel_first(of.tensor("initial"), precision.dtype);
  const Tensor fire = fire_of(of);
  const RolloutOptions options{.steps = steps, .returned = steps};
  const Tensor states = rollout(rule, initial, fire, options);
  if (of.has("soft_states")) {
    compare.add("soft_states", channel_last(states.detach()),
                without_start(of.tensor("soft_states")));
  }
  if (of.has("hard_states")) {
    const Tensor hard =
        rollout(rule, hard_tables_as(rule, precision.dtype), initial, fire, options);
    compare.add("hard_states", channel_last(hard.detach()), without_start(of.tensor("hard_states")),
                0);
  }
  const std::int64_t channels = setting(of, "loss_channels");
  const Shape& shape = states.shape();
  const Tensor last =
      reshape(slice(states, 0, steps - 1, steps), {shape[1], shape[2], shape[3], shape[4]});
  const Tensor loss = sum_of_squares(slice(last, 0, 0, channels),
                                     channel_first(of.tensor("target"), precision.dtype));
  compare.add("loss", loss.detach(), of.tensor("loss"));
  compare_gradients(of, rule, loss, compare);
}

}  // namespace

bool holds_automaton_cases(const TensorFile& file) { return !case_names(file, mark).empty(); }

std::vector<Check> verify_automata(const std::filesystem::path& path, const TensorFile& file) {
  std::vector<Check> checks;
  for (const std::string& name : case_names(file, mark)) {
    const ReferenceCase of(path, file, name);
    for (const Precision& precision : precisions) verify_case(of, precision, checks);
  }
  return checks;
}

}  // namespace boolgrad::cli
