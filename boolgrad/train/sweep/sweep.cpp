#include "boolgrad/train/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/folder_lock.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/keys.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/run/run_folder.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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
// The folder

/// Everything that identifies a sweep: all but its seeds.
json identity_of(const Sweep& sweep) {
  Experiment experiment = sweep.experiment;
  experiment.seed = 0;
  json variations = json::array();
  for (const Variation& variation : sweep.variations) {
    variations.push_back({{"key", variation.key}, {"values", variation.values}});
  }
  return {{"experiment", to_toml(experiment)}, {"variations", std::move(variations)}};
}

/// The description in a file, with present names of keys.
json saved_identity(const fs::path& path) {
  json saved = json::parse(file_content(where, path), nullptr, false);
  try {
    const Experiment experiment =
        parse_experiment(saved.at("experiment").get<std::string>(), path.string(), "", "");
    saved["experiment"] = to_toml(experiment);
    for (json& variation : saved.at("variations")) {
      variation["key"] = current_key(variation.at("key").get<std::string>());
    }
  } catch (const json::exception&) {
    fail(where, "{}: not the description of a sweep", path.string());
  }
  return saved;
}

void check_same_sweep(const fs::path& path, const json& wanted) {
  const json saved = saved_identity(path);
  const std::string folder = path.parent_path().string();
  if (saved["experiment"] != wanted["experiment"]) {
    const auto [before, now] = first_difference(saved["experiment"].get<std::string>(),
                                                wanted["experiment"].get<std::string>());
    fail(where, "{}: the sweep in this folder was started with {}, received {}", folder,
         printable(before), printable(now));
  }
  if (saved != wanted) {
    fail(where, "{}: the sweep in this folder was started with other variations", folder);
  }
}

/// Locks the folder and describes the sweep there.
FolderLock take_folder(const Sweep& sweep, const fs::path& folder) {
  const json wanted = identity_of(sweep);
  const fs::path path = folder / sweep_file;
  if (fs::exists(path)) {
    check_same_sweep(path, wanted);
  } else if (fs::exists(folder / checkpoint_file) || fs::exists(folder / settings_file)) {
    fail(where, "{}: expected the folder of a sweep, received that of a run", folder.string());
  }
  make_run_folder(folder);
  return {where, folder};
}

void describe_sweep(const Sweep& sweep, const fs::path& folder) {
  remove_temporary_files(folder);
  if (!fs::exists(folder / sweep_file)) {
    write_file(where, folder / sweep_file, identity_of(sweep).dump(2) + "\n");
  }
}

std::vector<SweepEntry> entries_of(const Sweep& sweep) {
  std::vector<SweepEntry> entries;
  for (SweepRun& run : runs_of(sweep)) entries.push_back({std::move(run)});
  return entries;
}

// ---------------------------------------------------------------------------------------------
// Results

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

void save_result(const fs::path& path, const SweepResult& result) {
  const json object = {
      {"steps_to_converge", result.converged() ? json(*result.steps_to_converge) : json()},
      {"steps", result.steps},
      {"soft_loss", result.soft_loss},
      {"hard_loss", result.hard_loss},
      {"hard_accuracy", result.hard_accuracy},
      {"bit_accuracy", result.bit_accuracy},
      {"seconds", result.seconds},
      {"validated", result.validated}};
  write_file(where, path, object.dump(2) + "\n");
}

/// None if the file is missing or incomplete. The run is then finished again from its checkpoint.
std::optional<SweepResult> load_result(const fs::path& path) {
  std::ifstream file(path);
  const json object = json::parse(file, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  try {
    SweepResult result{.steps_to_converge = std::nullopt,
                       .steps = object.at("steps").get<std::int64_t>(),
                       .soft_loss = object.at("soft_loss").get<double>(),
                       .hard_loss = object.at("hard_loss").get<double>(),
                       .hard_accuracy = object.at("hard_accuracy").get<double>(),
                       .bit_accuracy = object.at("bit_accuracy").get<double>(),
                       .seconds = object.at("seconds").get<double>(),
                       .validated = object.value("validated", false)};
    const json& converged = object.at("steps_to_converge");
    if (!converged.is_null()) result.steps_to_converge = converged.get<std::int64_t>();
    return result;
  } catch (const json::exception&) {
    return std::nullopt;
  }
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

class Runner {
 public:
  Runner(const Sweep& sweep, const SweepOptions& options)
      : options_(options), entries_(entries_of(sweep)), lock_(take_folder(sweep, options.folder)) {
    describe_sweep(sweep, options.folder);
  }

  std::vector<SweepEntry> run() {
    progress_.runs = static_cast<std::int64_t>(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].result = load_result(folder_of(entries_[i]) / result_file);
      if (entries_[i].result) count(*entries_[i].result);
      else waiting_.push_back(i);
    }
    std::ranges::reverse(waiting_);
    const auto workers = std::min(static_cast<std::size_t>(options_.jobs), waiting_.size());
    const SingleThreaded threads(workers > 1);
    if (workers <= 1) {
      work();
    } else {
      std::vector<std::jthread> all;
      for (std::size_t i = 0; i < workers; ++i) all.emplace_back([this] { work(); });
    }
    return std::move(entries_);
  }

 private:
  fs::path folder_of(const SweepEntry& entry) const { return options_.folder / entry.run.name; }
  bool stopped() const { return options_.stop && options_.stop(); }

  void work() {
    while (const std::optional<std::size_t> index = next()) {
      SweepEntry& entry = entries_[*index];
      try {
        entry.result = train(entry.run, folder_of(entry), *index);
      } catch (const std::exception& error) {
        entry.error = error.what();
      }
      finish(entry, *index);
    }
  }

  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || stopped()) return std::nullopt;
    const std::size_t index = waiting_.back();
    waiting_.pop_back();
    return index;
  }

  /// None if it was stopped.
  std::optional<SweepResult> train(const SweepRun& run, const fs::path& folder, std::size_t index) {
    const RunOptions options{.folder = folder,
                             .resume = fs::exists(folder / checkpoint_file),
                             .stop = options_.stop,
                             .watch = [&](std::int64_t steps, const LogEntry& last) {
                               update(run, index, steps, last);
                             }};
    const RunReport report = run_experiment(run.experiment, options, options_.device);
    if (report.ending == Ending::stopped) return std::nullopt;
    SweepResult result = result_of(run.experiment, report);
    save_result(folder / result_file, result);
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
  std::vector<SweepEntry> entries_;
  FolderLock lock_;
  std::mutex mutex_;                  ///< protects the members below
  std::vector<std::size_t> waiting_;  ///< in reverse order
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
  return Runner(sweep, options).run();
}

}  // namespace boolgrad::train
