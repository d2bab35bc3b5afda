#include "boolgrad/train/experiment/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>

#include "boolgrad/core/error.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/train/experiment/experiment_keys.h"

namespace boolgrad {
namespace {

constexpr std::string_view where = "experiment";

const ExperimentKey* find_key(const std::string& path) {
  const auto& table = experiment_key_table();
  const auto found = std::ranges::find(table, path, &ExperimentKey::path);
  return found == table.end() ? nullptr : &*found;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// The key that was probably meant. What follows the section must be near too, since a section's
/// name alone makes any two of its keys look alike; a key without its section, or in another, is
/// found by that part.
std::optional<std::string> nearest_key(const std::string& path) {
  const std::vector<std::string> keys = experiment_keys();
  const std::string part = last_part(path);
  auto whole = nearest_name(path, keys);
  if (whole && nearest_name(part, std::vector{last_part(*whole)})) return whole;
  std::vector<std::string> parts;
  for (const std::string& key : keys) parts.push_back(last_part(key));
  const auto nearest = nearest_name(part, parts);
  if (!nearest) return std::nullopt;
  return keys[static_cast<std::size_t>(std::ranges::find(parts, *nearest) - parts.begin())];
}

[[noreturn]] void refuse_unknown(const std::string& path, const std::string& source) {
  const auto nearest = nearest_key(path);
  fail(where, "{}: unknown key '{}'{}", source, printable(path),
       nearest ? fmt::format(", did you mean '{}'?", *nearest) : "");
}

/// Takes every value of `table` over, where `prefix` is the path of the table itself. `given` gets
/// the paths of all keys.
void read_table(Experiment& experiment, const toml::table& table, const std::string& prefix,
                const std::string& source, std::vector<std::string>& given) {
  for (const auto& [name, node] : table) {
    const std::string path = prefix + std::string(name.str());
    const ExperimentKey* key = find_key(path);
    const toml::table* inner = node.as_table();
    if (key == nullptr && inner != nullptr && !inner->empty()) {
      read_table(experiment, *inner, path + ".", source, given);
    } else if (key == nullptr) {
      refuse_unknown(path, source);
    } else if (!key->read(experiment, node)) {
      fail(where, "{}: expected {} to be {}, received {}", source, path, key->expected,
           text_of(node));
    } else {
      given.push_back(path);
    }
  }
}

/// The value of an override. What is no TOML value is taken for a text, so that
/// `training.loss=bce` needs no quotes.
toml::table parse_override(const std::string& value) {
  try {
    toml::table table = toml::parse("value = " + value);
    if (table.size() == 1) return table;
  } catch (const toml::parse_error&) {
    // A text, then.
  }
  return toml::table{{"value", value}};
}

/// Returns the key.
std::string apply_override(Experiment& experiment, const std::string& text,
                           const std::string& source) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail(where, "{}: expected key=value, received '{}'", source, printable(text));
  }
  std::string path = text.substr(0, equals);
  const ExperimentKey* key = find_key(path);
  if (key == nullptr) refuse_unknown(path, source);
  const toml::table table = parse_override(text.substr(equals + 1));
  const toml::node& node = *table.get("value");
  if (!key->read(experiment, node)) {
    fail(where, "{}: expected {} to be {}, received {}", source, path, key->expected,
         text_of(node));
  }
  return path;
}

/// So that a checkpoint can be resumed and a model evaluated from any folder.
void make_absolute(std::string& path) {
  if (!path.empty()) path = std::filesystem::absolute(path).string();
}

void check_per_layer(const std::vector<std::int64_t>& values, std::size_t layers,
                     std::string_view key, const std::string& source) {
  if (values.size() != 1 && values.size() != layers) {
    fail(where, "{}: expected {} of 1 or {} values (hidden layers and outputs), received {}",
         source, key, layers, values.size());
  }
}

void check_arity(const NetworkOptions& network, const std::string& source) {
  const auto is_two = [](std::int64_t arity) { return arity == 2; };
  if (std::ranges::all_of(network.arity, is_two)) return;
  if (network.parametrisation == Parametrisation::softmax16) {
    fail(where, "{}: expected network.arity 2 with softmax16, received another", source);
  }
  if (network.wiring == WiringKind::unique) {
    fail(where, "{}: expected network.arity 2 with unique wiring, received another", source);
  }
}

void check_stages(const std::vector<std::int64_t>& values, std::size_t stages, std::string_view key,
                  const std::string& source) {
  if (!values.empty() && values.size() != stages) {
    fail(where, "{}: expected {} of {} values, one a stage of curriculum.until, received {}",
         source, key, stages, values.size());
  }
}

void check_curriculum(const Experiment& experiment, const std::string& source) {
  const CurriculumOptions& curriculum = experiment.curriculum;
  const std::size_t stages = curriculum.until.size();
  if (std::ranges::adjacent_find(curriculum.until, std::greater_equal<>()) !=
      curriculum.until.end()) {
    fail(where, "{}: expected curriculum.until to rise from stage to stage, received [{}]", source,
         fmt::join(curriculum.until, ", "));
  }
  check_stages(curriculum.height, stages, "curriculum.height", source);
  check_stages(curriculum.width, stages, "curriculum.width", source);
  check_stages(curriculum.steps, stages, "curriculum.steps", source);
  check_stages(curriculum.batch, stages, "curriculum.batch", source);
  if (stages > 0 && !experiment.is_automaton()) {
    fail(where, "{}: expected a curriculum of automata only, received one of a circuit", source);
  }
  const bool grids = !curriculum.height.empty() || !curriculum.width.empty();
  if (grids && experiment.task.kind != TaskKind::checkerboard) {
    fail(where, "{}: expected a curriculum over grids of a checkerboard only, received one of {}",
         source, to_string(experiment.task.kind));
  }
  const auto too_small = [](std::int64_t side) { return side < 3; };
  if (experiment.automaton.border == Border::periodic &&
      (std::ranges::any_of(curriculum.height, too_small) ||
       std::ranges::any_of(curriculum.width, too_small))) {
    fail(where, "{}: expected grids of at least 3x3 cells with periodic borders, received smaller",
         source);
  }
}

void check_search(const Experiment& experiment, const std::string& source) {
  const SearchOptions& search = experiment.search;
  if (experiment.is_classifier() &&
      (search.members > 1 || search.restart != RestartKind::none || search.refit > 0)) {
    fail(where, "{}: expected no search (members, restart, refit) of a classifier, received one",
         source);
  }
  if (experiment.search.members > 1 && experiment.knockout.pattern != KnockoutPattern::none) {
    fail(where, "{}: expected search.members = 1 with a knockout, received {}", source,
         experiment.search.members);
  }
  if (search.refit > 0 && experiment.network.parametrisation == Parametrisation::walsh) {
    fail(where, "{}: expected softmax16 or sigmoid for search.refit, received walsh", source);
  }
}

void check_automaton(const Experiment& experiment, const std::string& source) {
  const AutomatonOptions& automaton = experiment.automaton;
  if (automaton.perceive.empty() || automaton.perceive[0] != 8) {
    fail(where,
         "{}: expected automaton.perceive to begin with 8 gates, one a neighbour, received {}",
         source, automaton.perceive.empty() ? "none" : fmt::format("{}", automaton.perceive[0]));
  }
  const bool too_small = automaton.height < 3 || automaton.width < 3;
  if (automaton.border == Border::periodic && too_small && experiment.task.kind != TaskKind::life) {
    fail(where, "{}: expected a grid of at least 3x3 cells with periodic borders, received {}x{}",
         source, automaton.height, automaton.width);
  }
  if (experiment.task.kind == TaskKind::picture && experiment.task.file.empty()) {
    fail(where, "{}: expected task.file for a picture, received none", source);
  }
  if (experiment.task.kind == TaskKind::life && automaton.channels != 1) {
    fail(where, "{}: expected automaton.channels = 1 for life, received {}", source,
         automaton.channels);
  }
  const RolloutTraining& rollout = experiment.rollout;
  if (rollout.loss_steps > automaton.steps) {
    fail(where, "{}: expected automaton.loss_steps of at most automaton.steps = {}, received {}",
         source, automaton.steps, rollout.loss_steps);
  }
  if (rollout.pool > 0 && rollout.pool < automaton.batch) {
    fail(where, "{}: expected an automaton.pool of at least the batch of {}, received {}", source,
         automaton.batch, rollout.pool);
  }
  if (rollout.pool > 0 && experiment.task.kind == TaskKind::life) {
    fail(where, "{}: expected no automaton.pool for life, which has starts of its own, received {}",
         source, rollout.pool);
  }
  if (experiment.knockout.pattern != KnockoutPattern::none) {
    fail(where, "{}: expected a knockout of circuits only, received one of an automaton", source);
  }
}

void check_training(const Experiment& experiment, const std::string& source) {
  const TrainingOptions& training = experiment.training;
  if (!experiment.is_classifier() && training.log_every == 0) {
    fail(where, "{}: expected training.log_every of at least 1 without epochs, received 0", source);
  }
  if (!experiment.is_classifier() && training.epochs != 0) {
    fail(where, "{}: expected training.epochs with samples only, received {}", source,
         training.epochs);
  }
  if (!experiment.is_automaton() && experiment.hardening.kind == HardeningKind::states) {
    fail(where, "{}: expected hardening.kind states of automata only, received it of a circuit",
         source);
  }
  if (experiment.is_automaton() && experiment.network.gradient_factor != 1) {
    fail(where,
         "{}: expected network.gradient_factor of circuits only, received {} of an automaton",
         source, experiment.network.gradient_factor);
  }
}

void check(const Experiment& experiment, const std::string& source) {
  check_training(experiment, source);
  if (experiment.is_automaton()) check_automaton(experiment, source);
  check_curriculum(experiment, source);
  check_search(experiment, source);
  const NetworkOptions& network = experiment.network;
  const std::size_t layers = network.hidden.size() + 1;
  check_per_layer(network.arity, layers, "network.arity", source);
  check_per_layer(network.group_size, layers, "network.group_size", source);
  check_arity(network, source);
  if (experiment.task.kind == TaskKind::table && experiment.task.file.empty()) {
    fail(where, "{}: expected task.file for a table, received none", source);
  }
  if (experiment.training.schedule == ScheduleKind::exponential &&
      experiment.training.final_share == 0) {
    fail(where, "{}: expected training.final_share above 0 for exponential, received 0", source);
  }
  if (experiment.knockout.layer > static_cast<std::int64_t>(layers)) {
    fail(where, "{}: expected knockout.layer from 0 to {}, received {}", source, layers,
         experiment.knockout.layer);
  }
}

}  // namespace

std::int64_t Experiment::knockout_step() const {
  if (knockout.pattern == KnockoutPattern::none) return -1;
  const double step = std::floor(knockout.at * static_cast<double>(training.steps));
  return static_cast<std::int64_t>(step);
}

namespace {

/// Refuses overrides that another kind of experiment would read; a line for each key besides that
/// has no effect.
std::vector<std::string> notices_of(const Experiment& experiment,
                                    const std::vector<std::string>& given,
                                    const std::vector<std::string>& overridden,
                                    const std::string& source) {
  for (const std::string& path : overridden) {
    const std::optional<NoEffect> nothing = no_effect(experiment, path);
    if (nothing && nothing->by_family) fail(where, "{}: {}", source, nothing->reason);
  }
  std::vector<std::string> notices;
  for (const auto* paths : {&given, &overridden}) {
    for (const std::string& path : *paths) {
      if (const auto nothing = no_effect(experiment, path)) notices.push_back(nothing->reason);
    }
  }
  return notices;
}

/// An experiment from a text, and what was said in it without effect.
struct Parsed {
  Experiment experiment;
  std::vector<std::string> notices;
};

Parsed parse_with_notices(std::string_view text, const std::string& source, const std::string& name,
                          const std::filesystem::path& folder,
                          std::span<const std::string> overrides) {
  Parsed parsed;
  Experiment& experiment = parsed.experiment;
  experiment.name = name;
  std::vector<std::string> given;
  std::vector<std::string> overridden;
  read_table(experiment, parse_toml(text, source), "", source, given);
  for (std::string* file : {&experiment.task.file, &experiment.data.path}) {
    if (!file->empty()) *file = (folder / *file).lexically_normal().string();
  }
  for (const std::string& one : overrides) {
    overridden.push_back(apply_override(experiment, one, "--set"));
  }
  make_absolute(experiment.task.file);
  make_absolute(experiment.data.path);
  check(experiment, source);
  parsed.notices = notices_of(experiment, given, overridden, "--set");
  return parsed;
}

}  // namespace

Experiment parse_experiment(std::string_view text, const std::string& source,
                            const std::string& name, const std::filesystem::path& folder,
                            std::span<const std::string> overrides) {
  return parse_with_notices(text, source, name, folder, overrides).experiment;
}

Experiment with_overrides(Experiment experiment, std::span<const std::string> overrides,
                          const std::string& source) {
  std::vector<std::string> overridden;
  for (const std::string& one : overrides) {
    overridden.push_back(apply_override(experiment, one, source));
  }
  make_absolute(experiment.task.file);
  make_absolute(experiment.data.path);
  check(experiment, source);
  notices_of(experiment, {}, overridden, source);
  return experiment;
}

Experiment read_experiment(const std::filesystem::path& path,
                           std::span<const std::string> overrides,
                           std::vector<std::string>* notices) {
  std::ifstream file = opened_to_read(where, path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Parsed parsed =
      parse_with_notices(text, path.string(), path.stem().string(), path.parent_path(), overrides);
  if (notices != nullptr) *notices = std::move(parsed.notices);
  return std::move(parsed.experiment);
}

std::string_view hard_loss_name(const Experiment& experiment) {
  if (!experiment.is_classifier()) return "wrong bits";
  return experiment.head.kind == HeadKind::regression ? "squared error" : "errors";
}

std::string to_toml(const Experiment& experiment) {
  std::string text;
  std::string section;
  for (const ExperimentKey& key : experiment_key_table()) {
    const std::size_t dot = key.path.find('.');
    const bool top_level = dot == std::string::npos;
    const std::string own = top_level ? "" : key.path.substr(0, dot);
    if (own != section) text += fmt::format("\n[{}]\n", section = own);
    text += fmt::format("{} = {}\n", top_level ? key.path : key.path.substr(dot + 1),
                        key.write(experiment));
  }
  return text;
}

std::vector<std::string> experiment_keys() {
  std::vector<std::string> keys;
  for (const ExperimentKey& key : experiment_key_table()) keys.push_back(key.path);
  return keys;
}

void check_resumable(const Experiment& saved, const Experiment& wanted, const std::string& source) {
  constexpr std::array free = {"training.steps",
                               "training.epochs",
                               "training.log_every",
                               "training.checkpoint_every",
                               "training.diagnose_every",
                               "training.stop_when_solved",
                               "training.patience",
                               "automaton.memory",
                               "data.path"};
  for (const ExperimentKey& key : experiment_key_table()) {
    if (std::ranges::find(free, key.path) != free.end()) continue;
    const std::string before = key.write(saved);
    const std::string now = key.write(wanted);
    if (before != now) {
      fail("resume", "{}: expected {} = {} as the run was started with, received {}", source,
           key.path, printable(before), printable(now));
    }
  }
}

}  // namespace boolgrad
