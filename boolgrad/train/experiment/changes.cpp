#include "boolgrad/train/experiment/changes.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/train/experiment/chosen_head.h"
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

/// A bitmap sets the size of the grid; a picture is scaled to the experiment's grid.
std::vector<std::string> target_overrides(const std::string& target) {
  std::vector<std::string> overrides = {"task.kind=picture",
                                        fmt::format("task.file={}", fs::absolute(target).string())};
  if (target.ends_with(".txt")) {
    const Shape shape = data::read_bitmap(target).bits.shape();
    overrides.push_back(fmt::format("automaton.height={}", shape[1]));
    overrides.push_back(fmt::format("automaton.width={}", shape[2]));
  }
  return overrides;
}

/// A run on one's own data or target is named after the file.
std::vector<std::string> name_overrides(const ExperimentChanges& changes,
                                        const Experiment& experiment) {
  fs::path file;
  if (experiment.task.kind == data::TaskKind::csv) file = changes.data;
  else if (!experiment.is_classifier()) file = changes.target;
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
    const std::vector<std::string> target = target_overrides(changes.target);
    overrides.insert(overrides.end(), target.begin(), target.end());
  }
  if (!changes.data.empty()) {
    overrides.push_back(quoted("data.path", fs::absolute(changes.data).string()));
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
  return with_epochs(with_chosen_head(read_experiment(path, overrides, notices), notices),
                     changes.epochs);
}

Experiment changed_experiment(const std::string& text, const std::string& source,
                              const std::string& name, const fs::path& folder,
                              const ExperimentChanges& changes) {
  check(changes);
  const Experiment plain = parse_experiment(text, source, name, folder);
  const std::vector<std::string> overrides = overrides_of(changes, plain);
  return with_epochs(with_chosen_head(parse_experiment(text, source, name, folder, overrides)),
                     changes.epochs);
}

}  // namespace boolgrad::train
