// A run from start to end in a folder: steps, metrics, checkpoints, the final model.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "boolgrad/backend/device/device.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/run/metrics.h"
#include "boolgrad/train/search/trainer.h"

namespace boolgrad {

/// The files of a run's folder.
inline constexpr const char* checkpoint_file = "checkpoint.safetensors";
inline constexpr const char* model_file = "model.safetensors";
inline constexpr const char* metrics_file = "metrics.jsonl";

struct RunOptions {
  std::filesystem::path folder;
  /// Goes on from the folder's checkpoint, with the same bits as if the run had never stopped.
  bool resume = false;
  /// Asked after every step; true ends the run with a checkpoint.
  std::function<bool()> stop = {};
  /// Told after every step: the steps taken and the last line logged.
  std::function<void(std::int64_t steps, const LogEntry& last)> watch = {};
};

enum class Ending : std::uint8_t {
  solved,    ///< no wrong bit left, and the experiment stops then
  finished,  ///< all steps taken
  stopped,   ///< asked to
  waited,    ///< of a classifier: no better model for as long as the experiment waits
};

struct RunReport {
  Ending ending = Ending::finished;
  LogEntry last;
  std::optional<LogEntry> best;  ///< of a classifier: the line of the model that is saved
  std::filesystem::path checkpoint;
  std::filesystem::path model;  ///< empty where the run was stopped
};

/// Makes a run's folder where it is not there. Throws where that fails or no file can be made in
/// it.
void make_run_folder(const std::filesystem::path& folder);

/// Trains in the folder, which is made if it is not there. Of a classifier the best
/// model that was logged is kept: that with the highest hard accuracy, of equal ones with the
/// lowest soft loss.
///
/// When a loss or gradient is not finite, the error names the step, and the checkpoint holds the
/// last state that was logged with a finite loss or, of large models, the last that was saved. Any
/// device may resume what another began.
RunReport run_training(Trainer& trainer, const RunOptions& options);

/// The same for an experiment from its beginning, on `device`.
RunReport run_experiment(const Experiment& experiment, const RunOptions& options,
                         const Device& device = {});

}  // namespace boolgrad
