// Many runs of one experiment in parallel: seeds, and variations of its keys.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/options/device.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The result of a run, in its folder, and the description of the sweep, in the sweep's folder.
inline constexpr const char* result_file = "result.json";
inline constexpr const char* sweep_file = "sweep.json";

/// A key of an experiment, by its present name, and its values.
struct Variation {
  std::string key;
  std::vector<std::string> values;
};

/// Reads `key=v1,v2,...`. Commas inside brackets and quotes belong to a value.
Variation parse_variation(const std::string& text);

/// Every seed with every combination of values.
struct Sweep {
  Experiment experiment;  ///< its seed is ignored
  std::vector<Variation> variations = {};
  std::int64_t first_seed = 1;
  std::int64_t seeds = 1;
};

struct SweepRun {
  std::string name;  ///< also its folder in the sweep's: `seed-3`, `variant-2-seed-3`
  std::vector<std::string> values;  ///< one per variation
  Experiment experiment;
};

/// The runs of a sweep. Seeds change fastest, then the last variation. Throws for invalid keys or
/// values.
std::vector<SweepRun> runs_of(const Sweep& sweep);

struct SweepResult {
  /// First logged update from which the hardened model had no errors until the end. None if the
  /// final model makes an error: on any case or, for an automaton, from 32 fresh starts that were
  /// not used in training or to decide when to stop.
  std::optional<std::int64_t> steps_to_converge;
  std::int64_t steps = 0;
  double soft_loss = 0;
  double hard_loss = 0;
  double hard_accuracy = 0;
  double bit_accuracy = 0;
  double seconds = 0;
  /// For classifiers, whose values are those of the saved model: measured on validation samples,
  /// not on those of the training.
  bool validated = false;

  bool converged() const { return steps_to_converge.has_value(); }
};

/// A run and its result or error. Neither is set if the sweep was stopped before.
struct SweepEntry {
  SweepRun run;
  std::optional<SweepResult> result = std::nullopt;
  std::string error = {};
  bool is_from_here = false;  ///< this process has finished it
  bool is_elsewhere = false;  ///< another process has it
};

/// The progress of a sweep.
struct SweepProgress {
  struct Running {
    std::string name;
    std::int64_t steps = 0;
    double hard_loss = 0;  ///< at the last log line
  };
  std::int64_t runs = 0;
  std::int64_t done = 0;
  std::int64_t converged = 0;
  std::vector<Running> running;
};

struct SweepOptions {
  std::filesystem::path folder;
  Device device = {};
  /// Number of parallel runs. If above 1, each run uses one thread.
  int jobs = 1;
  /// With a manifest: the number of the run to begin with, modulo that of all runs.
  std::int64_t task = 0;
  /// With a manifest: a process on another machine that has not shown for so long has died.
  std::chrono::seconds stale_after = std::chrono::seconds(120);
  /// Called after every step of a run, from its thread. If it returns true, all runs end with
  /// checkpoints.
  std::function<bool()> stop = {};
  /// Called after every step of a run, by one thread at a time.
  std::function<void(const SweepProgress&)> watch = {};
};

/// Trains all runs, each in its own folder. Finished runs are not repeated, interrupted ones resume
/// from their checkpoints, so a resumed sweep gives the same results as an uninterrupted one. Seeds
/// may be added. Throws if the folder belongs to another sweep. A failed run does not stop the
/// others.
std::vector<SweepEntry> run_sweep(const Sweep& sweep, const SweepOptions& options);

/// Writes the list of the runs into a folder, from where any number of processes take them:
/// `work_on_manifest`. A list that is there is replaced: seeds may be added.
void write_manifest(const Sweep& sweep, const std::filesystem::path& folder);

bool has_manifest(const std::filesystem::path& folder);

/// The sweep of a folder with a manifest.
Sweep read_manifest(const std::filesystem::path& folder);

/// Trains the runs of a manifest that no other process has, until none is left. Every run is
/// claimed by a file in its folder. The claim of a process that has died is overruled, and its run
/// goes on from the last checkpoint. Failed runs are tried again. Works on shared file systems.
std::vector<SweepEntry> work_on_manifest(const SweepOptions& options);

/// The results of a manifest's runs so far, as if one process had trained all of them.
std::vector<SweepEntry> collect_sweep(const std::filesystem::path& folder);

}  // namespace boolgrad::train
