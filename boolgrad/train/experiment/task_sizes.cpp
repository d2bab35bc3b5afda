#include "boolgrad/train/experiment/task_sizes.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "boolgrad/core/text.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad::train {
namespace {

Experiment with_sizes_of_rule(Experiment experiment, std::vector<std::string>* notices) {
  if (experiment.task.rule.empty() && experiment.task.examples.empty()) return experiment;
  const data::CellRule rule = cell_rule_of(experiment);
  experiment.automaton.channels = rule.channels();
  if (experiment.task.examples.empty() || notices == nullptr) return experiment;
  const std::int64_t known = rule.known();
  notices->push_back(
      fmt::format("{}: {} states, {} of {} neighbourhoods seen{}",
                  printable(std::filesystem::path(experiment.task.examples).filename().string()),
                  rule.states(), known, rule.neighbourhoods(),
                  known < rule.neighbourhoods() ? "; the others may become anything" : ""));
  return experiment;
}

}  // namespace

Experiment with_task_sizes(Experiment experiment, std::vector<std::string>* notices) {
  if (experiment.task.kind == data::TaskKind::rule) {
    return with_sizes_of_rule(std::move(experiment), notices);
  }
  const bool has_own_grid = experiment.task.kind == data::TaskKind::picture &&
                            experiment.task.max_side > 0 && !experiment.task.file.empty();
  if (has_own_grid) {
    const Shape shape = pattern_of(experiment).bits.shape();
    experiment.automaton.height = shape[1];
    experiment.automaton.width = shape[2];
  }
  return experiment;
}

}  // namespace boolgrad::train
