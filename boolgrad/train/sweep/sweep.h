// Many runs of one experiment side by side: seeds, and variations of its keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/backend/device/device.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// The file of a run's folder that holds its result, and that of the sweep's folder that says which
/// sweep it is.
inline constexpr const char* result_file = "result.json";
inline constexpr const char* sweep_file = "sweep.json";

/// A key of an experiment, and the values it takes.
struct Variation {
  std::string key;
  std::vector<std::string> values;
};

/// From `key=v1,v2,...`. Commas inside of brackets and quotes belong to a value.
Variation parse_variation(const std::string& text);

/// Every seed with every combination of values.
struct Sweep {
  Experiment experiment;  ///< its own seed does not count
  std::vector<Variation> variations = {};
  std::int64_t first_seed = 1;
  std::int64_t seeds = 1;
};

struct SweepRun {
  std::string name;  ///< and folder inside of the sweep's: `seed-3`, `variant-2-seed-3`
  std::vector<std::string> values;  ///< one a variation
  Experiment experiment;
};

/// The runs of a sweep: the last variation changes faster than the first, seeds fastest. Throws
/// where keys or values are wrong.
std::vector<SweepRun> runs_of(const Sweep& sweep);

struct SweepResult {
  /// Updates after which the hardened model was seen to be right and stayed so, where in the end
  /// it is right on every case or, of an automaton, in every cell from 32 fresh starts that
  /// neither its training nor its stopping depended on.
  std::optional<std::int64_t> steps_to_converge;
  std::int64_t steps = 0;
  double soft_loss = 0;
  double hard_loss = 0;
  double hard_accuracy = 0;
  double bit_accuracy = 0;
  double seconds = 0;

  bool converged() const { return steps_to_converge.has_value(); }
};

/// A run and what came of it: a result, an error, or neither where the sweep was stopped before.
struct SweepEntry {
  SweepRun run;
  std::optional<SweepResult> result = std::nullopt;
  std::string error = {};
};

/// How far a sweep is.
struct SweepProgress {
  struct Running {
    std::string name;
    std::int64_t steps = 0;
    double hard_loss = 0;  ///< when it was last looked at
  };
  std::int64_t runs = 0;
  std::int64_t done = 0;
  std::int64_t converged = 0;
  std::vector<Running> running;
};

struct SweepOptions {
  std::filesystem::path folder;
  Device device = {};
  /// Runs at a time. Where there are several, each has one thread.
  int jobs = 1;
  /// Asked after every step of every run, from its thread; true ends them with checkpoints.
  std::function<bool()> stop = {};
  /// Told after every step of a run, by one thread at a time.
  std::function<void(const SweepProgress&)> watch = {};
};

/// Trains all runs, each in its folder inside of the sweep's. What was finished before is taken
/// from there, what was begun goes on from its checkpoint: a sweep that was interrupted and started
/// anew gives what it would have given. Seeds may be added; a folder of another sweep is refused. A
/// run that fails does not keep the others from going on.
std::vector<SweepEntry> run_sweep(const Sweep& sweep, const SweepOptions& options);

}  // namespace boolgrad
