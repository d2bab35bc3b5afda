// The output of `boolgrad train`: settings, progress and summary.
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

/// Prints the target pattern on the grid of the automaton.
void print_target(const train::Experiment& experiment);

/// Says on a terminal that samples are being loaded.
void show_loading(const train::Experiment& experiment);

/// Prints the samples and the size of a classifier, and how long loading took.
void print_samples(const train::Experiment& experiment, const Model& model, double loading_seconds);

/// Prints the memory that training needs at least, if it is a large part of what is free.
void print_needed_memory(const train::Experiment& experiment);

/// Prints the memory policy of the backward pass and the alternatives.
void print_memory(const train::Experiment& experiment, const automata::Rule& rule);

/// Shows the progress of a run on standard error. For an automaton with a target pattern, a
/// terminal shows the current state; otherwise there is a progress bar, or lines.
class TrainView {
 public:
  TrainView(const train::Experiment& experiment, bool quiet);

  /// To be called after every step.
  void watch(std::int64_t steps, const train::LogEntry& last);

  /// Leaves the last state on the screen.
  void finish(const train::LogEntry& last);

 private:
  std::string status(std::int64_t steps, const train::LogEntry& last) const;
  /// The same for narrow terminals.
  std::string short_status(std::int64_t steps, const train::LogEntry& last) const;

  const train::Experiment& experiment_;
  bool quiet_;
  std::int64_t steps_per_epoch_;
  std::optional<Progress> progress_;
  std::optional<picture::Animation> animation_;  ///< none if there is nothing to draw
};

void print_summary(const train::Experiment& experiment, const train::RunReport& report,
                   const train::Plots& plots, const std::optional<train::TestResult>& test);

nlohmann::json train_json(const train::Experiment& experiment, const train::RunReport& report,
                          const train::Plots& plots, const std::optional<train::TestResult>& test,
                          double loading_seconds);

}  // namespace boolgrad::cli
