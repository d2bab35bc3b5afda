#include "boolgrad/train/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/folder_lock.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/keys.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/run/run_folder.h"
#include "boolgrad/train/sweep/claim.h"
#include "boolgrad/train/sweep/sweep_folder.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* where = "sweep";

// ---------------------------------------------------------------------------------------------
// Runs

/// Splits at commas that are outside brackets and quotes.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char letter : text) {
    if (quote == 0 && letter == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += letter;
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else {
      depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
    }
  }
  return parts;
}

/// Every combination of values, the last variation fastest.
std::vector<std::vector<std::string>> combinations(const std::vector<Variation>& variations) {
  std::vector<std::vector<std::string>> all(1);
  for (const Variation& variation : variations) {
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& begun : all) {
      for (const std::string& value : variation.values) {
        longer.push_back(begun);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

void check_sweep(const Sweep& sweep) {
  constexpr std::int64_t max_runs = 100'000;
  if (sweep.seeds < 1) fail(where, "expected at least 1 seed, received {}", sweep.seeds);
  if (sweep.first_seed < 0) {
    fail(where, "expected a first seed of at least 0, received {}", sweep.first_seed);
  }
  std::set<std::string> keys;
  double runs = static_cast<double>(sweep.seeds);
  for (const Variation& variation : sweep.variations) {
    if (variation.key == "seed") {
      fail(where, "seed cannot be varied: give a range of seeds instead");
    }
    if (!keys.insert(variation.key).second) {
      fail(where, "expected distinct keys to vary, received {} twice", printable(variation.key));
    }
    const std::set<std::string> values(variation.values.begin(), variation.values.end());
    if (values.size() != variation.values.size()) {
      fail(where, "expected distinct values of {}, received a duplicate", printable(variation.key));
    }
    runs *= static_cast<double>(variation.values.size());
  }
  if (runs > static_cast<double>(max_runs)) {
    fail(where, "expected at most {} runs, received {:.0f}", max_runs, runs);
  }
}

// ---------------------------------------------------------------------------------------------
// Results

std::vector<SweepEntry> entries_of(const Sweep& sweep) {
  std::vector<SweepEntry> entries;
  for (SweepRun& run : runs_of(sweep)) entries.push_back({std::move(run)});
  return entries;
}

/// Whether the hardened model makes no error, for automata also from fresh starts.
bool has_converged(const Experiment& experiment, const RunReport& report) {
  constexpr std::int64_t fresh_starts = 32;
  if (!report.last.evaluation.solved()) return false;
  // For circuits and rules the evaluation covers all cases.
  if (!experiment.is_automaton() || experiment.learns_rule()) return true;
  const LoadedModel loaded = load_model(report.model);
  const Scenario scenario = scenarios_of(experiment).front();
  return play(experiment, loaded.model.rule(), scenario, fresh_starts).bits == 0;
}

/// The first logged update from which the model made no error until the end. Ignores lines that
/// were logged because of an interruption, so that interruptions do not change the result.
std::int64_t convergence_step(const Experiment& experiment, const fs::path& metrics,
                              std::int64_t last) {
  const std::int64_t log_every = experiment.training.log_every;
  const std::int64_t checkpoint_every = experiment.training.checkpoint_every;
  std::int64_t first = last;
  bool solved = false;
  for (const LoggedLoss& logged : read_losses(metrics)) {
    // For classifiers 0 means once per epoch: every line counts.
    const bool planned = log_every == 0 || logged.step % log_every == 0 || logged.step == last ||
                         (checkpoint_every > 0 && logged.step % checkpoint_every == 0);
    if (!planned) continue;
    if (logged.hard == 0 && !solved) first = logged.step;
    solved = logged.hard == 0;
  }
  return first;
}

SweepResult result_of(const Experiment& experiment, const RunReport& report) {
  const Evaluation& evaluation = report.best ? report.best->evaluation : report.last.evaluation;
  SweepResult result{.steps_to_converge = std::nullopt,
                     .steps = report.last.step,
                     .soft_loss = evaluation.soft_loss,
                     .hard_loss = evaluation.hard_loss,
                     .hard_accuracy = evaluation.hard_accuracy,
                     .bit_accuracy = evaluation.bit_accuracy,
                     .seconds = report.last.seconds,
                     .validated = experiment.is_classifier() && experiment.data.validation > 0};
  if (has_converged(experiment, report)) {
    result.steps_to_converge =
        convergence_step(experiment, report.model.parent_path() / metrics_file, report.last.step);
  }
  return result;
}

// ---------------------------------------------------------------------------------------------
// Execution

/// Restricts parallel loops to one thread while runs share the cores.
class SingleThreaded {
 public:
  explicit SingleThreaded(bool needed) : before_(thread_count()) {
    if (needed) set_thread_count(1);
  }
  ~SingleThreaded() { set_thread_count(before_); }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  int before_;
};

/// Holds a folder that this process alone works in.
std::unique_ptr<FolderLock> take_folder(const Sweep& sweep, const fs::path& folder) {
  check_sweep_folder(sweep, folder);
  if (has_manifest(folder)) {
    fail(where, "{0}: the folder has a list of runs for several processes: boolgrad sweep {0}",
         folder.string());
  }
  make_run_folder(folder);
  auto lock = std::make_unique<FolderLock>(where, folder);
  remove_temporary_files(folder);
  describe_sweep(sweep, folder);
  return lock;
}

class Runner {
 public:
  /// Without a worker, the folder must be locked: nobody else takes runs.
  Runner(const Sweep& sweep, const SweepOptions& options, SweepWorker* worker)
      : options_(options), worker_(worker), entries_(entries_of(sweep)) {}

  std::vector<SweepEntry> run() {
    progress_.runs = static_cast<std::int64_t>(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      // Workers begin at different runs.
      const std::size_t index = (i + static_cast<std::size_t>(options_.task)) % entries_.size();
      SweepEntry& entry = entries_[index];
      entry.result = load_result(folder_of(entry));
      if (entry.result) count(*entry.result);
      else waiting_.push_back(index);
    }
    while (!waiting_.empty()) {
      std::ranges::reverse(waiting_);
      work_in_parallel();
      look_again();
    }
    return std::move(entries_);
  }

 private:
  fs::path folder_of(const SweepEntry& entry) const { return options_.folder / entry.run.name; }
  bool stopped() const { return options_.stop && options_.stop(); }

  void work_in_parallel() {
    const auto workers = std::min(static_cast<std::size_t>(options_.jobs), waiting_.size());
    const SingleThreaded threads(workers > 1);
    if (workers <= 1) {
      work();
    } else {
      std::vector<std::jthread> all;
      for (std::size_t i = 0; i < workers; ++i) all.emplace_back([this] { work(); });
    }
    if (stopped()) waiting_.clear();
  }

  /// Other workers may have died since: their runs wait again, as long as this one gets runs.
  void look_again() {
    if (!has_trained_ || stopped()) return;
    has_trained_ = false;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].is_elsewhere) waiting_.push_back(i);
    }
  }

  void work() {
    while (const std::optional<std::size_t> index = next()) {
      SweepEntry& entry = entries_[*index];
      try {
        work_on(entry, *index);
      } catch (const std::exception& error) {
        entry.error = error.what();
        if (worker_ != nullptr) tell_others(entry);
      }
      finish(entry, *index);
    }
  }

  void tell_others(const SweepEntry& entry) const {
    try {
      save_failure(folder_of(entry), entry.error);
    } catch (const Error&) {  // perhaps the reason of the failure, which this process reports
    }
  }

  void work_on(SweepEntry& entry, std::size_t index) {
    std::unique_ptr<Claim> claim;
    if (worker_ != nullptr) {
      claim = worker_->claim(folder_of(entry));
      entry.is_elsewhere = claim == nullptr;
      if (entry.is_elsewhere) return;
      // Another worker may have finished it in the meantime.
      entry.result = load_result(folder_of(entry));
      if (entry.result) return;
    }
    entry.result = train(entry.run, folder_of(entry), index, claim.get());
    entry.is_elsewhere = claim && claim->is_lost();
    entry.is_from_here = entry.result.has_value();
  }

  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || stopped()) return std::nullopt;
    const std::size_t index = waiting_.back();
    waiting_.pop_back();
    return index;
  }

  /// None if it was stopped, or lost to another worker.
  std::optional<SweepResult> train(const SweepRun& run, const fs::path& folder, std::size_t index,
                                   const Claim* claim) {
    const RunOptions options{
        .folder = folder,
        .resume = fs::exists(folder / checkpoint_file),
        .stop = [&] { return stopped() || (claim != nullptr && claim->is_lost()); },
        .watch = [&](std::int64_t steps,
                     const LogEntry& last) { update(run, index, steps, last); }};
    const RunReport report = run_experiment(run.experiment, options, options_.device);
    if (report.ending == Ending::stopped) return std::nullopt;
    SweepResult result = result_of(run.experiment, report);
    save_result(folder, result);
    return result;
  }

  void update(const SweepRun& run, std::size_t index, std::int64_t steps, const LogEntry& last) {
    if (!options_.watch) return;
    const std::lock_guard lock(mutex_);
    running_[index] = {run.name, steps, last.evaluation.hard_loss};
    show();
  }

  void finish(const SweepEntry& entry, std::size_t index) {
    const std::lock_guard lock(mutex_);
    has_trained_ = has_trained_ || entry.is_from_here;
    running_.erase(index);
    if (entry.result) count(*entry.result);
    else if (!entry.error.empty()) ++progress_.done;
    if (options_.watch) show();
  }

  void count(const SweepResult& result) {
    ++progress_.done;
    if (result.converged()) ++progress_.converged;
  }

  void show() {
    progress_.running.clear();
    for (const auto& [index, running] : running_) progress_.running.push_back(running);
    options_.watch(progress_);
  }

  const SweepOptions& options_;
  SweepWorker* worker_;
  std::vector<SweepEntry> entries_;
  std::mutex mutex_;                  ///< protects the members below
  std::vector<std::size_t> waiting_;  ///< in reverse order
  bool has_trained_ = false;          ///< a run has been finished since others were looked at
  std::map<std::size_t, SweepProgress::Running> running_;
  SweepProgress progress_;
};

}  // namespace

Variation parse_variation(const std::string& text) {
  const std::size_t equals = text.find('=');
  Variation variation;
  if (equals != std::string::npos) {
    variation = {current_key(text.substr(0, equals)), split(text.substr(equals + 1))};
  }
  const bool empty =
      std::ranges::any_of(variation.values, [](const std::string& value) { return value.empty(); });
  if (variation.key.empty() || empty) {
    fail(where,
         "expected a key with values, such as training.learning_rate=0.05,0.1, received '{}'",
         printable(text));
  }
  return variation;
}

namespace {

/// Throws for a variation that has no effect in any run.
void check_variations(const Sweep& sweep, const std::vector<SweepRun>& runs) {
  for (const Variation& variation : sweep.variations) {
    const bool matters = std::ranges::any_of(runs, [&](const SweepRun& run) {
      return why_no_effect(run.experiment, variation.key).empty();
    });
    if (!matters) fail(where, "--vary: {}", why_no_effect(runs.front().experiment, variation.key));
  }
}

}  // namespace

std::vector<SweepRun> runs_of(const Sweep& sweep) {
  check_sweep(sweep);
  std::vector<SweepRun> runs;
  std::size_t variant = 0;
  for (const std::vector<std::string>& values : combinations(sweep.variations)) {
    ++variant;
    std::vector<std::string> overrides;
    for (std::size_t i = 0; i < values.size(); ++i) {
      overrides.push_back(sweep.variations[i].key + "=" + values[i]);
    }
    Experiment experiment = with_overrides(sweep.experiment, overrides, "--vary");
    for (std::int64_t i = 0; i < sweep.seeds; ++i) {
      experiment.seed = sweep.first_seed + i;
      const std::string seed = fmt::format("seed-{}", experiment.seed);
      runs.push_back({values.empty() ? seed : fmt::format("variant-{}-{}", variant, seed), values,
                      experiment});
    }
  }
  check_variations(sweep, runs);
  return runs;
}

std::vector<SweepEntry> run_sweep(const Sweep& sweep, const SweepOptions& options) {
  if (options.jobs < 1) fail(where, "expected at least 1 job, received {}", options.jobs);
  Runner runner(sweep, options, nullptr);  // throws for invalid keys before anything is written
  const std::unique_ptr<FolderLock> lock = take_folder(sweep, options.folder);
  return runner.run();
}

std::vector<SweepEntry> work_on_manifest(const SweepOptions& options) {
  if (options.jobs < 1) fail(where, "expected at least 1 job, received {}", options.jobs);
  if (options.task < 0) fail(where, "expected a task of at least 0, received {}", options.task);
  const Sweep sweep = read_manifest(options.folder);
  SweepWorker worker(options.folder, options.stale_after);
  return Runner(sweep, options, &worker).run();
}

}  // namespace boolgrad::train
