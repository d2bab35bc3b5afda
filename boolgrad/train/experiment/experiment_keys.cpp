#include "boolgrad/train/experiment/experiment_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "boolgrad/core/text.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/boolean_task.h"

namespace boolgrad {
namespace {

/// Where a value lies in an experiment.
template <class T>
using Place = T& (*)(Experiment&);

template <class T>
const T& value_at(Place<T> place, const Experiment& experiment) {
  return place(const_cast<Experiment&>(experiment));  // read only
}

constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();

std::string range_text(std::int64_t low, std::int64_t high) {
  if (high == any_size) return fmt::format("of at least {}", low);
  return fmt::format("from {} to {}", low, high);
}

bool read_integer(const toml::node& node, std::int64_t low, std::int64_t high,
                  std::int64_t& value) {
  if (!node.is_integer()) return false;
  value = **node.as_integer();
  return value >= low && value <= high;
}

ExperimentKey integer(std::string path, Place<std::int64_t> place, std::int64_t low,
                      std::int64_t high = any_size) {
  return {std::move(path), "an integer " + range_text(low, high),
          [=](Experiment& e, const toml::node& node) {
            return read_integer(node, low, high, place(e));
          },
          [=](const Experiment& e) { return fmt::format("{}", value_at(place, e)); }};
}

/// A list of integers; where `or_one`, a single integer stands for a list of one.
ExperimentKey integers(std::string path, Place<std::vector<std::int64_t>> place, bool or_one,
                       std::int64_t low, std::int64_t high = any_size) {
  const std::string each = range_text(low, high);
  const std::string expected =
      or_one ? "an integer or a list of integers " + each : "a list of integers " + each;
  const auto read = [=](Experiment& e, const toml::node& node) {
    std::vector<std::int64_t> values;
    std::int64_t value = 0;
    if (or_one && node.is_integer()) {
      if (!read_integer(node, low, high, value)) return false;
      values.push_back(value);
    } else {
      if (!node.is_array()) return false;
      for (const toml::node& item : *node.as_array()) {
        if (!read_integer(item, low, high, value)) return false;
        values.push_back(value);
      }
      if (or_one && values.empty()) return false;
    }
    place(e) = std::move(values);
    return true;
  };
  const auto write = [=](const Experiment& e) {
    const auto& values = value_at(place, e);
    if (or_one && values.size() == 1) return fmt::format("{}", values[0]);
    return fmt::format("[{}]", fmt::join(values, ", "));
  };
  return {std::move(path), expected, read, write};
}

ExperimentKey number(std::string path, Place<double> place, std::string expected,
                     bool (*accepts)(double)) {
  const auto read = [=](Experiment& e, const toml::node& node) {
    if (node.is_integer()) place(e) = static_cast<double>(**node.as_integer());
    else if (node.is_floating_point()) place(e) = **node.as_floating_point();
    else return false;
    return std::isfinite(place(e)) && accepts(place(e));
  };
  return {std::move(path), std::move(expected), read,
          [=](const Experiment& e) { return fmt::format("{}", value_at(place, e)); }};
}

constexpr bool above_zero(double x) { return x > 0; }
constexpr bool zero_or_more(double x) { return x >= 0; }
constexpr bool from_zero_below_one(double x) { return x >= 0 && x < 1; }
constexpr bool from_zero_to_one(double x) { return x >= 0 && x <= 1; }
constexpr bool above_zero_to_one(double x) { return x > 0 && x <= 1; }

ExperimentKey positive(std::string path, Place<double> place) {
  return number(std::move(path), place, "a number above 0", above_zero);
}
ExperimentKey non_negative(std::string path, Place<double> place) {
  return number(std::move(path), place, "a number of at least 0", zero_or_more);
}
ExperimentKey below_one(std::string path, Place<double> place) {
  return number(std::move(path), place, "a number of at least 0 and below 1", from_zero_below_one);
}
ExperimentKey share(std::string path, Place<double> place) {
  return number(std::move(path), place, "a number from 0 to 1", from_zero_to_one);
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

ExperimentKey text(std::string path, Place<std::string> place) {
  return {std::move(path), "a text",
          [=](Experiment& e, const toml::node& node) {
            if (!node.is_string()) return false;
            place(e) = **node.as_string();
            return true;
          },
          [=](const Experiment& e) { return quoted(value_at(place, e)); }};
}

/// Empty or `200MB`, kept as text.
ExperimentKey memory_size(std::string path, Place<std::string> place) {
  ExperimentKey key = text(std::move(path), place);
  key.expected = "a size such as \"200MB\", or empty";
  key.read = [place](Experiment& e, const toml::node& node) {
    if (!node.is_string()) return false;
    place(e) = **node.as_string();
    return place(e).empty() || bytes_in(place(e)).has_value();
  };
  return key;
}

/// One of `names`, kept as text.
ExperimentKey one_of(std::string path, Place<std::string> place, std::vector<std::string> names) {
  ExperimentKey key = text(std::move(path), place);
  key.expected = alternatives(names);
  key.read = [place, names = std::move(names)](Experiment& e, const toml::node& node) {
    if (!node.is_string()) return false;
    place(e) = **node.as_string();
    return std::ranges::find(names, place(e)) != names.end();
  };
  return key;
}

/// One of `values`, each under its name.
template <class T>
ExperimentKey choice(std::string path, Place<T> place,
                     std::vector<std::pair<std::string, T>> values) {
  std::vector<std::string> names;
  for (const auto& value : values) names.push_back(value.first);
  const auto read = [=](Experiment& e, const toml::node& node) {
    if (!node.is_string()) return false;
    const auto found =
        std::ranges::find(values, **node.as_string(), &std::pair<std::string, T>::first);
    if (found == values.end()) return false;
    place(e) = found->second;
    return true;
  };
  const auto write = [=](const Experiment& e) {
    const auto found =
        std::ranges::find(values, value_at(place, e), &std::pair<std::string, T>::second);
    return quoted(found->first);
  };
  return {std::move(path), alternatives(names), read, write};
}

ExperimentKey flag(std::string path, Place<bool> place) {
  return {std::move(path), "true or false",
          [=](Experiment& e, const toml::node& node) {
            if (!node.is_boolean()) return false;
            place(e) = **node.as_boolean();
            return true;
          },
          [=](const Experiment& e) { return fmt::format("{}", value_at(place, e)); }};
}

/// `choice` for an enumeration whose values have a `to_string`.
template <class T>
ExperimentKey named(std::string path, Place<T> place, std::initializer_list<T> values) {
  std::vector<std::pair<std::string, T>> pairs;
  for (const T value : values) pairs.emplace_back(to_string(value), value);
  return choice<T>(std::move(path), place, std::move(pairs));
}

std::vector<std::string> task_kinds() {
  std::vector<std::string> kinds = boolean_task_names();
  kinds.emplace_back("table");
  for (const std::string_view kind : automaton_task_names) kinds.emplace_back(kind);
  for (const std::string_view kind : data_task_names) kinds.emplace_back(kind);
  return kinds;
}

// The type of a place follows from the member it names.
#define BOOLGRAD_AT(member) [](Experiment& e) -> decltype((e.member)) { return e.member; }

std::vector<ExperimentKey> make_table() {
  constexpr std::int64_t most_gates = std::int64_t{1} << 24;
  constexpr std::int64_t most_channels = std::int64_t{1} << 12;
  constexpr std::int64_t most_side = std::int64_t{1} << 14;
  constexpr std::int64_t most_steps = std::numeric_limits<std::uint32_t>::max();
  return {
      text("name", BOOLGRAD_AT(name)),
      integer("seed", BOOLGRAD_AT(seed), 0),

      one_of("task.kind", BOOLGRAD_AT(task.kind), task_kinds()),
      integer("task.bits", BOOLGRAD_AT(task.bits), 1, most_task_bits),
      text("task.file", BOOLGRAD_AT(task.file)),
      integer("task.outputs", BOOLGRAD_AT(task.outputs), 0),
      integer("task.square", BOOLGRAD_AT(task.square), 1, most_side),

      text("data.path", BOOLGRAD_AT(data.path)),
      text("data.target", BOOLGRAD_AT(data.target)),
      text("data.categories", BOOLGRAD_AT(data.categories)),
      below_one("data.validation", BOOLGRAD_AT(data.validation)),
      below_one("data.test", BOOLGRAD_AT(data.test)),
      integer("data.limit", BOOLGRAD_AT(data.limit), 0),

      named<BinarisationKind>(
          "binarise.kind", BOOLGRAD_AT(binarise.levels.kind),
          {BinarisationKind::threshold, BinarisationKind::uniform, BinarisationKind::quantile}),
      below_one("binarise.threshold", BOOLGRAD_AT(binarise.levels.threshold)),
      integer("binarise.levels", BOOLGRAD_AT(binarise.levels.levels), 1, 255),
      below_one("binarise.least", BOOLGRAD_AT(binarise.levels.least)),
      flag("binarise.learn", BOOLGRAD_AT(binarise.learn)),
      positive("binarise.width", BOOLGRAD_AT(binarise.width)),

      named<HeadKind>("head.kind", BOOLGRAD_AT(head.kind),
                      {HeadKind::classes, HeadKind::binary, HeadKind::regression}),
      integer("head.outputs", BOOLGRAD_AT(head.outputs), 1, most_gates),
      positive("head.temperature", BOOLGRAD_AT(head.temperature)),

      named<Parametrisation>(
          "network.parametrisation", BOOLGRAD_AT(network.parametrisation),
          {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}),
      named<DType>("network.dtype", BOOLGRAD_AT(network.dtype), {DType::float32, DType::float64}),
      integers("network.hidden", BOOLGRAD_AT(network.hidden), false, 1, most_gates),
      integers("network.arity", BOOLGRAD_AT(network.arity), true, 1, most_inputs_per_gate),
      integers("network.group_size", BOOLGRAD_AT(network.group_size), true, 1, most_gates),
      choice<WiringKind>("network.wiring", BOOLGRAD_AT(network.wiring),
                         {{"random", WiringKind::random},
                          {"unique", WiringKind::unique},
                          {"local", WiringKind::local}}),
      non_negative("network.wiring_noise", BOOLGRAD_AT(network.wiring_noise)),
      named<Initialisation>(
          "network.init", BOOLGRAD_AT(network.init),
          {Initialisation::gaussian, Initialisation::pass_through, Initialisation::residual}),
      non_negative("network.init_strength", BOOLGRAD_AT(network.init_strength)),
      positive("network.gradient_factor", BOOLGRAD_AT(network.gradient_factor)),

      integer("training.steps", BOOLGRAD_AT(training.steps), 1, most_steps),
      integer("training.epochs", BOOLGRAD_AT(training.epochs), 0, most_steps),
      positive("training.learning_rate", BOOLGRAD_AT(training.learning_rate)),
      named<ScheduleKind>(
          "training.schedule", BOOLGRAD_AT(training.schedule),
          {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::exponential}),
      integer("training.warm_up", BOOLGRAD_AT(training.warm_up), 0),
      share("training.final_share", BOOLGRAD_AT(training.final_share)),
      below_one("training.beta1", BOOLGRAD_AT(training.beta1)),
      below_one("training.beta2", BOOLGRAD_AT(training.beta2)),
      positive("training.epsilon", BOOLGRAD_AT(training.epsilon)),
      non_negative("training.weight_decay", BOOLGRAD_AT(training.weight_decay)),
      non_negative("training.clip_value", BOOLGRAD_AT(training.clip_value)),
      non_negative("training.clip_norm", BOOLGRAD_AT(training.clip_norm)),
      non_negative("training.gradient_noise", BOOLGRAD_AT(training.gradient_noise)),
      non_negative("training.gate_penalty", BOOLGRAD_AT(training.gate_penalty)),
      choice<LossKind>("training.loss", BOOLGRAD_AT(training.loss),
                       {{"squares", LossKind::squares},
                        {"l4", LossKind::l4},
                        {"bce", LossKind::bce},
                        {"focal", LossKind::focal}}),
      non_negative("training.focal_gamma", BOOLGRAD_AT(training.focal_gamma)),
      integer("training.batch", BOOLGRAD_AT(training.batch), 0),
      integer("training.log_every", BOOLGRAD_AT(training.log_every), 0),
      integer("training.checkpoint_every", BOOLGRAD_AT(training.checkpoint_every), 0),
      integer("training.diagnose_every", BOOLGRAD_AT(training.diagnose_every), 0),
      flag("training.stop_when_solved", BOOLGRAD_AT(training.stop_when_solved)),
      below_one("training.label_smoothing", BOOLGRAD_AT(training.label_smoothing)),
      integer("training.shift", BOOLGRAD_AT(training.shift), 0, 255),
      integer("training.patience", BOOLGRAD_AT(training.patience), 0),

      integer("automaton.channels", BOOLGRAD_AT(automaton.channels), 1, most_channels),
      integer("automaton.kernels", BOOLGRAD_AT(automaton.kernels), 1, most_channels),
      integers("automaton.perceive", BOOLGRAD_AT(automaton.perceive), false, 1, most_gates),
      integers("automaton.update", BOOLGRAD_AT(automaton.update), false, 1, most_gates),
      named<Border>("automaton.border", BOOLGRAD_AT(automaton.border),
                    {Border::zero, Border::periodic}),
      integer("automaton.height", BOOLGRAD_AT(automaton.height), 1, most_side),
      integer("automaton.width", BOOLGRAD_AT(automaton.width), 1, most_side),
      integer("automaton.steps", BOOLGRAD_AT(automaton.steps), 1, most_gates),
      integer("automaton.batch", BOOLGRAD_AT(automaton.batch), 1, most_gates),
      choice<StartKind>("automaton.start", BOOLGRAD_AT(automaton.start),
                        {{"random", StartKind::random}, {"seed", StartKind::seed}}),
      share("automaton.fire_rate", BOOLGRAD_AT(automaton.fire_rate)),
      share("automaton.training_fire_rate", BOOLGRAD_AT(automaton.training_fire_rate)),
      integer("automaton.loss_steps", BOOLGRAD_AT(automaton.loss_steps), 1, most_gates),
      integer("automaton.extra_steps", BOOLGRAD_AT(automaton.extra_steps), 0, most_gates),
      integer("automaton.pool", BOOLGRAD_AT(automaton.pool), 0, most_gates),
      integer("automaton.probes", BOOLGRAD_AT(automaton.probes), 1, most_gates),
      memory_size("automaton.memory", BOOLGRAD_AT(automaton.memory)),

      named<HardeningKind>(
          "hardening.kind", BOOLGRAD_AT(hardening.kind),
          {HardeningKind::none, HardeningKind::blend, HardeningKind::gates, HardeningKind::states,
           HardeningKind::straight_through, HardeningKind::temperature, HardeningKind::noise,
           HardeningKind::freeze}),
      positive("hardening.threshold", BOOLGRAD_AT(hardening.threshold)),
      integer("hardening.steps", BOOLGRAD_AT(hardening.steps), 1, most_steps),
      number("hardening.rate_share", BOOLGRAD_AT(hardening.rate_share),
             "a number above 0 and at most 1", above_zero_to_one),
      number("hardening.temperature", BOOLGRAD_AT(hardening.temperature),
             "a number above 0 and at most 1", above_zero_to_one),
      non_negative("hardening.noise", BOOLGRAD_AT(hardening.noise)),
      flag("hardening.seal", BOOLGRAD_AT(hardening.seal)),

      integers("curriculum.until", BOOLGRAD_AT(curriculum.until), false, 1, most_steps),
      integers("curriculum.height", BOOLGRAD_AT(curriculum.height), false, 1, most_side),
      integers("curriculum.width", BOOLGRAD_AT(curriculum.width), false, 1, most_side),
      integers("curriculum.steps", BOOLGRAD_AT(curriculum.steps), false, 1, most_gates),
      integers("curriculum.batch", BOOLGRAD_AT(curriculum.batch), false, 1, most_gates),

      integer("search.members", BOOLGRAD_AT(search.members), 1, most_channels),
      integer("search.until", BOOLGRAD_AT(search.until), 0, most_steps),
      choice<RestartKind>("search.restart", BOOLGRAD_AT(search.restart),
                          {{"none", RestartKind::none},
                           {"fresh", RestartKind::fresh},
                           {"best", RestartKind::best}}),
      integer("search.patience", BOOLGRAD_AT(search.patience), 1, most_steps),
      integer("search.every", BOOLGRAD_AT(search.every), 1, most_steps),
      flag("search.keep_best", BOOLGRAD_AT(search.keep_best)),
      integer("search.refit", BOOLGRAD_AT(search.refit), 0, most_gates),
      integer("search.refit_walk", BOOLGRAD_AT(search.refit_walk), 0, most_gates),
      integer("search.refit_every", BOOLGRAD_AT(search.refit_every), 1, most_steps),
      share("search.refit_below", BOOLGRAD_AT(search.refit_below)),

      choice<KnockoutPattern>("knockout.pattern", BOOLGRAD_AT(knockout.pattern),
                              {{"none", KnockoutPattern::none},
                               {"random", KnockoutPattern::random},
                               {"list", KnockoutPattern::list},
                               {"layer", KnockoutPattern::layer},
                               {"block", KnockoutPattern::block}}),
      share("knockout.share", BOOLGRAD_AT(knockout.share)),
      integer("knockout.layer", BOOLGRAD_AT(knockout.layer), 0),
      integers("knockout.gates", BOOLGRAD_AT(knockout.gates), false, 0, most_gates),
      integer("knockout.first", BOOLGRAD_AT(knockout.first), 0, most_gates),
      integer("knockout.count", BOOLGRAD_AT(knockout.count), 0, most_gates),
      below_one("knockout.at", BOOLGRAD_AT(knockout.at)),
      integer("knockout.seed", BOOLGRAD_AT(knockout.seed), -1),
  };
}

#undef BOOLGRAD_AT

}  // namespace

const std::vector<ExperimentKey>& experiment_key_table() {
  static const std::vector<ExperimentKey> table = make_table();
  return table;
}

}  // namespace boolgrad
