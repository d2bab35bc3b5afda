#include "boolgrad/train/experiment/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/cell_rule.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/train/experiment/chosen_head.h"
#include "boolgrad/train/experiment/initial_circuit.h"
#include "boolgrad/train/experiment/task_sizes.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

/// An override whose value is a string, even if it looks like a number.
std::string quoted(std::string_view key, std::string_view text) {
  // A literal string of TOML, without escapes.
  if (text.find('\'') == std::string_view::npos) return fmt::format("{}='{}'", key, text);
  return fmt::format("{}={}", key, text);
}

/// A bitmap sets the size of the grid; a picture is scaled to the experiment's grid, or sets it if
/// the experiment has a `task.max_side`. Steps then grow with the grid: a signal needs half a side
/// to reach the edge.
std::vector<std::string> target_overrides(const std::string& target, const Experiment& experiment) {
  std::vector<std::string> overrides = {"task.kind=picture",
                                        quoted("task.file", fs::absolute(target).string())};
  const std::int64_t max_side = experiment.task.max_side;
  const bool is_bitmap = target.ends_with(".txt");
  if (!is_bitmap && max_side == 0) return overrides;
  const Shape shape =
      (is_bitmap ? data::read_bitmap(target) : data::fitted_pattern(target, max_side)).bits.shape();
  if (max_side == 0) {
    overrides.push_back(fmt::format("automaton.height={}", shape[1]));
    overrides.push_back(fmt::format("automaton.width={}", shape[2]));
    return overrides;
  }
  constexpr std::int64_t more = 4;
  const std::int64_t steps = std::max(shape[1], shape[2]) / 2 + more;
  overrides.push_back(fmt::format("automaton.steps={}", steps));
  overrides.push_back(fmt::format("automaton.stay_steps={}", steps));
  return overrides;
}

/// `b36-s23` for B36/S23, `table-0123abcd` for a truth table.
std::string name_of_rule(const std::string& rule) {
  std::string name = data::is_rule_table(rule) ? "table-" + rule.substr(0, 8) : rule;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return file_name_of(name);
}

/// A run on one's own data, target or rule is named after it.
std::vector<std::string> name_overrides(const ExperimentChanges& changes,
                                        const Experiment& experiment) {
  fs::path file;
  if (experiment.task.kind == data::TaskKind::csv) file = changes.data;
  else if (!experiment.is_classifier()) file = changes.target;
  if (!changes.rule.empty()) return {quoted("name", name_of_rule(changes.rule))};
  if (!changes.examples.empty()) file = changes.examples;
  if (file.empty()) return {};
  return {quoted("name", file_name_of(file.stem().string()))};
}

/// Epochs of an experiment that counts steps. Classifiers have a key for epochs.
Experiment with_epochs(Experiment experiment, const std::optional<std::int64_t>& epochs) {
  if (epochs && !experiment.is_classifier()) {
    experiment.training.steps = steps_of_epochs(*epochs, steps_per_epoch(experiment));
  }
  return experiment;
}

/// What the data, the task or the initial circuit decides.
Experiment chosen(Experiment experiment, const ExperimentChanges& changes,
                  std::vector<std::string>* notices) {
  experiment.network.circuit = changes.circuit;
  return with_initial_circuit(
      with_task_sizes(with_chosen_head(std::move(experiment), notices), notices), notices);
}

void check(const ExperimentChanges& changes) {
  if (changes.steps && changes.epochs) {
    fail("train", "expected a number of steps or of epochs, received both");
  }
  if (changes.epochs && *changes.epochs < 1) {
    fail("train", "expected at least 1 epoch, received {}", *changes.epochs);
  }
}

}  // namespace

std::vector<std::string> overrides_of(const ExperimentChanges& changes,
                                      const Experiment& experiment) {
  std::vector<std::string> overrides = name_overrides(changes, experiment);
  const bool is_classifier = experiment.is_classifier();
  if (!changes.target.empty() && is_classifier) {
    overrides.push_back(quoted("data.target", changes.target));
  } else if (!changes.target.empty()) {
    const std::vector<std::string> target = target_overrides(changes.target, experiment);
    overrides.insert(overrides.end(), target.begin(), target.end());
  }
  if (!changes.rule.empty()) overrides.push_back(quoted("task.rule", changes.rule));
  if (!changes.examples.empty()) {
    overrides.push_back(quoted("task.examples", fs::absolute(changes.examples).string()));
  }
  if (!changes.data.empty()) {
    overrides.push_back(quoted("data.path", fs::absolute(changes.data).string()));
  }
  if (!changes.init.empty()) {
    overrides.push_back(quoted("network.init_circuit", fs::absolute(changes.init).string()));
  }
  if (changes.no_header) overrides.emplace_back("data.header=no");
  if (!changes.missing.empty()) overrides.push_back(quoted("data.missing", changes.missing));
  if (!changes.encoding.empty()) overrides.push_back(quoted("data.encoding", changes.encoding));
  overrides.insert(overrides.end(), changes.overrides.begin(), changes.overrides.end());
  if (!changes.memory.empty()) {
    // In quotes, so that a plain number of bytes is a string.
    overrides.push_back(fmt::format("automaton.memory=\"{}\"", changes.memory));
  }
  if (changes.seed) overrides.push_back(fmt::format("seed={}", *changes.seed));
  if (changes.steps) {
    overrides.push_back(fmt::format("training.steps={}", *changes.steps));
    if (is_classifier) overrides.emplace_back("training.epochs=0");
  }
  if (changes.epochs && is_classifier) {
    overrides.push_back(fmt::format("training.epochs={}", *changes.epochs));
  }
  if (changes.knockout) {
    overrides.emplace_back("knockout.pattern=random");
    overrides.push_back(fmt::format("knockout.share={}", *changes.knockout));
  }
  return overrides;
}

Experiment changed_experiment(const fs::path& path, const ExperimentChanges& changes,
                              std::vector<std::string>* notices) {
  check(changes);
  const std::vector<std::string> overrides = overrides_of(changes, read_experiment(path));
  return with_epochs(chosen(read_experiment(path, overrides, notices), changes, notices),
                     changes.epochs);
}

Experiment changed_experiment(const std::string& text, const std::string& source,
                              const std::string& name, const fs::path& folder,
                              const ExperimentChanges& changes, std::vector<std::string>* notices) {
  check(changes);
  const Experiment plain = parse_experiment(text, source, name, folder);
  const std::vector<std::string> overrides = overrides_of(changes, plain);
  return with_epochs(
      chosen(parse_experiment(text, source, name, folder, overrides), changes, notices),
      changes.epochs);
}

}  // namespace boolgrad::train
