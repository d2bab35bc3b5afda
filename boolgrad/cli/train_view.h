// What `boolgrad train` shows: the setting before a run, how it goes, and what came out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "boolgrad/core/progress.h"
#include "boolgrad/picture/terminal.h"
#include "boolgrad/train/learners/automaton_learner.h"
#include "boolgrad/train/learners/learner.h"
#include "boolgrad/train/run/report.h"
#include "boolgrad/train/run/run.h"

namespace boolgrad::cli {

/// The pattern that is to be learned, on the grid of the automaton.
void print_target(const Experiment& experiment);

/// The samples of a classifier and what becomes of them.
void print_samples(const Experiment& experiment, const Model& model);

/// What the backward of an automaton keeps, and what else it could.
void print_memory(const Experiment& experiment, const Rule& rule);

/// Shows a run as it goes, on standard error: where the automaton has a pattern to reach and the
/// terminal can be redrawn, the pattern as it forms; else a progress bar or lines.
class TrainView {
 public:
  TrainView(const Experiment& experiment, bool quiet);

  /// To be told after every step.
  void watch(std::int64_t steps, const LogEntry& last);

  /// Leaves the last that was to be seen standing.
  void finish(const LogEntry& last);

 private:
  std::string status(std::int64_t steps, const LogEntry& last) const;

  const Experiment& experiment_;
  bool quiet_;
  std::int64_t steps_per_epoch_;
  std::optional<Progress> progress_;
  std::optional<Animation> animation_;  ///< none where there is nothing to draw
};

void print_summary(const Experiment& experiment, const RunReport& report, const Plots& plots);

nlohmann::json train_json(const Experiment& experiment, const RunReport& report,
                          const Plots& plots);

}  // namespace boolgrad::cli
