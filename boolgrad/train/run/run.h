// A complete run in a folder: steps, metrics, checkpoints and the final model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "boolgrad/model/model.h"
#include "boolgrad/options/device.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/run/metrics.h"

namespace boolgrad::train {

class Trainer;

/// The files of a run's folder.
using boolgrad::checkpoint_file;
using boolgrad::model_file;
inline constexpr const char* metrics_file = "metrics.jsonl";

struct RunOptions {
  std::filesystem::path folder;
  /// Continue from the folder's checkpoint. The result is bit-identical to an uninterrupted run.
  bool resume = false;
  /// Replace a run with other settings that the folder has.
  bool overwrite = false;
  /// Called after every step. If it returns true, on any rank, the run ends with a checkpoint.
  std::function<bool()> stop = {};
  /// Called after every step with the number of steps and the last log line.
  std::function<void(std::int64_t steps, const LogEntry& last)> watch = {};
};

enum class Ending : std::uint8_t {
  solved,    ///< no error left, and the experiment stops then
  finished,  ///< all steps taken
  stopped,   ///< by `RunOptions::stop`
  waited,    ///< for classifiers: patience exhausted
};

struct RunReport {
  Ending ending = Ending::finished;
  LogEntry last;
  /// Log line of the saved model: for classifiers always, for others if it is not the last one.
  std::optional<LogEntry> best;
  /// The last evaluation before its logits were saturated, if they were.
  std::optional<Evaluation> unsaturated = {};
  std::filesystem::path checkpoint;
  std::filesystem::path model;  ///< empty if the run was stopped
};

/// A run in progress, for callers that act between its steps. `run_training` takes all steps.
class Run {
 public:
  /// Starts or resumes a run, and locks its folder: throws if another process trains there. The
  /// trainer must outlive it.
  Run(Trainer& trainer, RunOptions options);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Why the run has ended; none if there are steps left.
  std::optional<Ending> ending() const;
  /// Takes a step. Throws if the run has ended.
  void advance();
  /// Ends the run before its next step.
  void stop();
  /// Saves the checkpoint of a run that has ended and, unless it was stopped, its model.
  RunReport finish();

  /// Number of steps taken, those before a resume included.
  std::int64_t steps() const;
  /// The last log line.
  const LogEntry& last() const;

 private:
  class Steps;
  std::unique_ptr<Steps> steps_;
};

/// Trains in the folder, which is created if needed. The best logged model is saved: for
/// classifiers the one with the highest hard accuracy, for others the one with the lowest hard
/// loss, with ties broken by the lowest soft loss. A knockout starts this choice again.
///
/// If a loss or gradient is not finite, the error names the step. The checkpoint then holds the
/// last logged state or, for large models, the last saved one. A run may be resumed on another
/// device.
RunReport run_training(Trainer& trainer, const RunOptions& options);

/// Trains an experiment on `device`.
RunReport run_experiment(const Experiment& experiment, const RunOptions& options,
                         const Device& device = {});

}  // namespace boolgrad::train
