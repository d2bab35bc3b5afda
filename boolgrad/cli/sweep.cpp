// `boolgrad sweep`: trains many seeds and variations of an experiment in parallel.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/data_options.h"
#include "boolgrad/cli/experiment_file.h"
#include "boolgrad/cli/interruption.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/progress.h"
#include "boolgrad/core/text.h"
#include "boolgrad/core/tty.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/train/experiment/changes.h"
#include "boolgrad/train/sweep/sweep.h"
#include "boolgrad/train/sweep/sweep_report.h"

namespace boolgrad::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct SweepArguments {
  std::string experiment;
  std::optional<std::int64_t> seeds;
  std::int64_t first_seed = 1;
  train::ExperimentChanges changes;
  std::vector<std::string> variations;
  Device device = {};
  std::string out;
  std::optional<int> jobs;
  bool manifest = false;
  bool collect = false;
  std::optional<std::int64_t> task;
  int stale_after = 120;

  /// Whether the experiment is the folder of a list of runs, instead of an experiment.
  bool reads_manifest() const { return !experiment.empty() && train::has_manifest(experiment); }
};

// ---------------------------------------------------------------------------------------------
// Arguments

void check_workers(const SweepArguments& arguments) {
  if (arguments.jobs && *arguments.jobs < 1) {
    throw UsageError(
        fmt::format("[sweep] expected --jobs of at least 1, received {}", *arguments.jobs));
  }
  if (!arguments.device.is_cpu() && arguments.jobs.value_or(1) > 1) {
    throw UsageError(fmt::format("[sweep] expected --jobs 1 on {}, received {}",
                                 to_string(arguments.device), *arguments.jobs));
  }
  check_device(arguments.device, on_gpus);
}

/// Throws for options that a list of runs decides.
void check_manifest_arguments(const SweepArguments& arguments) {
  const train::ExperimentChanges& changes = arguments.changes;
  const bool changes_runs = arguments.seeds || arguments.first_seed != 1 ||
                            !arguments.variations.empty() || !changes.overrides.empty() ||
                            changes.steps || !changes.data.empty() || arguments.manifest ||
                            !arguments.out.empty();
  if (changes_runs) {
    throw UsageError(fmt::format(
        "[sweep] {0} has a list of runs: expected --task, --collect, --jobs, --stale-after or "
        "--device, received an option that changes the runs",
        arguments.experiment));
  }
  if (arguments.collect && arguments.task) {
    throw UsageError("[sweep] expected --task or --collect, received both");
  }
  if (arguments.task && *arguments.task < 0) {
    throw UsageError(
        fmt::format("[sweep] expected --task of at least 0, received {}", *arguments.task));
  }
  if (arguments.stale_after < 1) {
    throw UsageError(fmt::format("[sweep] expected --stale-after of at least 1 second, received {}",
                                 arguments.stale_after));
  }
}

void check_arguments(const SweepArguments& arguments) {
  if (arguments.task || arguments.collect) {
    throw UsageError(
        fmt::format("[sweep] {} needs the folder of a list of runs, received {}: boolgrad sweep "
                    "EXPERIMENT --seeds N --manifest writes one",
                    arguments.task ? "--task" : "--collect",
                    arguments.experiment.empty() ? "none" : arguments.experiment));
  }
  if (arguments.experiment.empty()) {
    throw UsageError(
        fmt::format("[sweep] expected an experiment ({} or a TOML file), received none",
                    fmt::join(built_in_names(), ", ")));
  }
  if (!arguments.seeds || *arguments.seeds < 1) {
    throw UsageError(
        fmt::format("[sweep] expected --seeds of at least 1, received {}",
                    arguments.seeds ? fmt::format("{}", *arguments.seeds) : std::string("none")));
  }
  if (arguments.first_seed < 0) {
    throw UsageError(fmt::format("[sweep] expected --first-seed of at least 0, received {}",
                                 arguments.first_seed));
  }
  if (arguments.manifest && (arguments.jobs || !arguments.device.is_cpu())) {
    throw UsageError("[sweep] --jobs and --device are for the workers of a list of runs");
  }
}

train::Sweep sweep_of(const SweepArguments& arguments, std::vector<std::string>& notices) {
  const fs::path path = experiment_file("sweep", arguments.experiment);
  check_data_options("sweep", arguments.changes, train::read_experiment(path));
  train::Sweep sweep{.experiment = train::changed_experiment(path, arguments.changes, &notices),
                     .variations = {},
                     .first_seed = arguments.first_seed,
                     .seeds = *arguments.seeds};
  const std::vector<std::string> renames = train::rename_notices(arguments.variations);
  notices.insert(notices.end(), renames.begin(), renames.end());
  for (const std::string& text : arguments.variations) {
    sweep.variations.push_back(train::parse_variation(text));
  }
  return sweep;
}

/// One run per core on the CPU, one at a time on a device.
int jobs_of(const SweepArguments& arguments) {
  if (!arguments.device.is_cpu()) return 1;
  return arguments.jobs.value_or(thread_count());
}

// ---------------------------------------------------------------------------------------------
// Output

std::string progress_text(const train::SweepProgress& progress) {
  constexpr std::size_t max_shown = 2;
  std::string text =
      fmt::format("{}/{} runs, {} converged", progress.done, progress.runs, progress.converged);
  const std::size_t shown = std::min(max_shown, progress.running.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const train::SweepProgress::Running& running = progress.running[i];
    text += fmt::format(", {} at step {}: {:.0f} errors", running.name, running.steps,
                        running.hard_loss);
  }
  const std::size_t others = progress.running.size() - shown;
  return others == 0 ? text : text + fmt::format(", {} more", others);
}

std::string outcome_text(const train::SweepEntry& entry) {
  if (!entry.error.empty()) return "failed";
  if (!entry.result) return "not finished";
  return entry.result->converged() ? "yes" : "no";
}

std::string percent_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// `validation accuracy`, or whatever the results of a sweep over classifiers are.
std::string measured_text(const train::Sweep& sweep,
                          const std::vector<train::SweepEntry>& entries) {
  const bool validated = std::ranges::any_of(entries, [](const train::SweepEntry& entry) {
    return entry.result && entry.result->validated;
  });
  return fmt::format("{} {}", validated ? "validation" : "training",
                     accuracy_name(sweep.experiment.head.kind));
}

std::vector<std::string> cells_of(const train::SweepEntry& entry, bool is_classifier) {
  std::vector<std::string> cells = {fmt::format("{}", entry.run.experiment.seed)};
  for (const std::string& value : entry.run.values) cells.push_back(printable(value));
  const auto& result = entry.result;
  cells.push_back(is_classifier && result ? percent_text(result->hard_accuracy)
                                          : outcome_text(entry));
  if (!result) {
    cells.resize(cells.size() + (is_classifier ? 3 : 4));
    return cells;
  }
  cells.push_back(fmt::format("{}", result->steps_to_converge.value_or(result->steps)));
  cells.push_back(fmt::format("{:.4g}", result->soft_loss));
  if (!is_classifier) cells.push_back(fmt::format("{:.0f}", result->hard_loss));
  cells.push_back(fmt::format("{:.1f}", result->seconds));
  return cells;
}

void print_table(const train::Sweep& sweep, const std::vector<train::SweepEntry>& entries) {
  const bool is_classifier = sweep.experiment.is_classifier();
  std::vector<std::vector<std::string>> lines(1, {"seed"});
  for (const train::Variation& variation : sweep.variations) {
    lines[0].push_back(variation.key.substr(variation.key.rfind('.') + 1));
  }
  lines[0].push_back(is_classifier ? measured_text(sweep, entries) : "converged");
  lines[0].insert(lines[0].end(), {"updates", "soft loss"});
  if (!is_classifier) lines[0].emplace_back(train::hard_loss_name(sweep.experiment));
  lines[0].emplace_back("seconds");
  for (const train::SweepEntry& entry : entries) lines.push_back(cells_of(entry, is_classifier));
  std::vector<std::size_t> widths(lines[0].size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += fmt::format("  {:>{}}", line[i], widths[i]);
    }
    fmt::print("{}\n", text);
  }
}

/// The accuracies of the finished runs, of one combination of values or of all.
std::vector<double> accuracies(const std::vector<train::SweepEntry>& entries,
                               const std::vector<std::string>* values) {
  std::vector<double> result;
  for (const train::SweepEntry& entry : entries) {
    if (values != nullptr && entry.run.values != *values) continue;
    if (entry.result) result.push_back(entry.result->hard_accuracy);
  }
  return result;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string accuracy_text(const std::vector<double>& values) {
  if (values.empty()) return "no run has ended";
  const auto [low, high] = std::ranges::minmax(values);
  return fmt::format("mean {}, lowest {}, highest {} of {} runs", percent_text(mean_of(values)),
                     percent_text(low), percent_text(high), values.size());
}

std::string share_text(std::int64_t converged, std::int64_t runs, std::optional<double> median) {
  std::string text = fmt::format("{} of {} converged", converged, runs);
  if (median) text += fmt::format(", median {:.0f} updates", *median);
  return text;
}

/// All variants as one.
train::SweepVariant together(const std::vector<train::SweepVariant>& variants) {
  train::SweepVariant all;
  for (const train::SweepVariant& variant : variants) {
    all.runs += variant.runs;
    all.steps_to_converge.insert(all.steps_to_converge.end(), variant.steps_to_converge.begin(),
                                 variant.steps_to_converge.end());
  }
  std::ranges::sort(all.steps_to_converge);
  return all;
}

void print_report(const train::Sweep& sweep, const std::vector<train::SweepEntry>& entries,
                  const train::SweepFiles& files, const std::string& ending) {
  print_table(sweep, entries);
  const std::vector<train::SweepVariant> variants = train::variants_of(entries);
  const train::SweepVariant all = together(variants);
  const bool is_classifier = sweep.experiment.is_classifier();
  fmt::print("{}: {}\n", printable(sweep.experiment.name),
             is_classifier ? fmt::format("{} {}", measured_text(sweep, entries),
                                         accuracy_text(accuracies(entries, nullptr)))
                           : share_text(all.converged(), all.runs, all.median()));
  if (!sweep.variations.empty()) {
    for (const train::SweepVariant& variant : variants) {
      fmt::print("  {}: {}\n", train::variant_text(sweep, variant.values),
                 is_classifier ? accuracy_text(accuracies(entries, &variant.values))
                               : share_text(variant.converged(), variant.runs, variant.median()));
    }
  }
  for (const train::SweepEntry& entry : entries) {
    if (!entry.error.empty()) fmt::print("  {}: {}\n", entry.run.name, printable(entry.error));
  }
  fmt::print("  table  {}\n  plots  {}, {}\n", files.table.string(), files.converged.string(),
             files.losses.filename().string());
  if (!ending.empty()) fmt::print("  {}\n", ending);
}

/// Steps to converge in the order of the runs; null for runs that did not.
json steps_json(const std::vector<train::SweepEntry>& entries,
                const std::vector<std::string>* values) {
  json steps = json::array();
  for (const train::SweepEntry& entry : entries) {
    if (values != nullptr && entry.run.values != *values) continue;
    const bool converged = entry.result && entry.result->converged();
    steps.push_back(converged ? json(*entry.result->steps_to_converge) : json());
  }
  return steps;
}

json to_json(const train::Sweep& sweep, const std::vector<train::SweepEntry>& entries,
             const train::SweepFiles& files, bool stopped) {
  const std::vector<train::SweepVariant> variants = train::variants_of(entries);
  json failed = json::object();
  for (const train::SweepEntry& entry : entries) {
    if (!entry.error.empty()) failed[entry.run.name] = entry.error;
  }
  json object = {
      {"experiment", sweep.experiment.name},
      {"seeds", sweep.seeds},
      {"first_seed", sweep.first_seed},
      {"runs", entries.size()},
      {"converged", together(variants).converged()},
      {"steps_to_converge", steps_json(entries, nullptr)},
      {"failed", std::move(failed)},
      {"stopped", stopped},
      {"table", files.table.string()},
      {"plots", {{"converged", files.converged.string()}, {"losses", files.losses.string()}}}};
  if (sweep.experiment.is_classifier()) {
    object["metric"] = measured_text(sweep, entries);
    object["accuracies"] = accuracies(entries, nullptr);
  }
  if (sweep.variations.empty()) return object;
  object["variants"] = json::array();
  for (const train::SweepVariant& variant : variants) {
    json values = json::object();
    for (std::size_t i = 0; i < variant.values.size(); ++i) {
      values[sweep.variations[i].key] = variant.values[i];
    }
    object["variants"].push_back({{"values", std::move(values)},
                                  {"converged", variant.converged()},
                                  {"steps_to_converge", steps_json(entries, &variant.values)}});
  }
  return object;
}

// ---------------------------------------------------------------------------------------------

/// Throws if all runs failed.
void check_some_ran(const std::vector<train::SweepEntry>& entries) {
  const bool all_failed = std::ranges::all_of(
      entries, [](const train::SweepEntry& entry) { return !entry.error.empty(); });
  if (all_failed) {
    fail("sweep", "all {} runs failed, the first with: {}", entries.size(), entries.front().error);
  }
}

int report(const train::Sweep& sweep, const std::vector<train::SweepEntry>& entries,
           const fs::path& folder, const std::string& how_to_go_on, const CommonOptions& common) {
  check_some_ran(entries);
  const train::SweepFiles files = train::write_sweep_report(folder, sweep, entries);
  const bool stopped = std::ranges::any_of(
      entries, [](const train::SweepEntry& entry) { return !entry.result && entry.error.empty(); });
  if (!common.quiet) print_report(sweep, entries, files, stopped ? how_to_go_on : "");
  if (common.json) print_json(to_json(sweep, entries, files, stopped));
  return 0;
}

fs::path folder_of(const SweepArguments& arguments, const train::Sweep& sweep) {
  return arguments.out.empty() ? fs::path("runs") / (file_name_of(sweep.experiment.name) + "-sweep")
                               : fs::path(arguments.out);
}

/// The options of a sweep that this process trains runs of, which shows its progress.
train::SweepOptions training_options(const SweepArguments& arguments, const fs::path& folder,
                                     const CommonOptions& common,
                                     std::optional<Progress>& progress) {
  const bool silent = common.quiet || !is_terminal(stderr);
  watch_for_interruption();
  return {.folder = folder,
          .device = arguments.device,
          .jobs = jobs_of(arguments),
          .stop = interrupted,
          .watch = [&progress, silent](const train::SweepProgress& now) {
            if (!progress) progress.emplace(stderr, silent, "runs", now.runs, now.done);
            if (progress->due() || now.done == now.runs) {
              progress->show(now.done, progress_text(now));
            }
          }};
}

int write_list(const train::Sweep& sweep, const fs::path& folder, const CommonOptions& common) {
  train::write_manifest(sweep, folder);
  const std::size_t runs = train::runs_of(sweep).size();
  if (!common.quiet) {
    fmt::print(
        "{0}: a list of {1} runs\n"
        "  work on it      boolgrad sweep {0} --task N, in any number of processes, N from 0\n"
        "  as a job array  sbatch --array=0-{2} --wrap \"boolgrad sweep {0}\"\n"
        "  the table       boolgrad sweep {0} --collect\n",
        folder.string(), runs, runs - 1);
  }
  if (common.json) print_json({{"folder", folder.string()}, {"runs", runs}});
  return 0;
}

/// `--task`, or the number of a task of a Slurm job array.
std::int64_t task_of(const SweepArguments& arguments) {
  if (arguments.task) return *arguments.task;
  const char* number = std::getenv("SLURM_ARRAY_TASK_ID");
  if (number == nullptr) return 0;
  const std::string_view text = number;
  std::int64_t task = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), task);
  if (error != std::errc() || end != text.data() + text.size() || task < 0) {
    fail("sweep", "expected a number in SLURM_ARRAY_TASK_ID, received '{}'", printable(text));
  }
  return task;
}

/// Trains runs of a list until nobody has to be waited for.
int work_on_list(const SweepArguments& arguments, const CommonOptions& common) {
  const fs::path folder = arguments.experiment;
  std::optional<Progress> progress;
  train::SweepOptions options = training_options(arguments, folder, common, progress);
  options.task = task_of(arguments);
  options.stale_after = std::chrono::seconds(arguments.stale_after);
  const std::vector<train::SweepEntry> entries = train::work_on_manifest(options);
  progress.reset();
  std::int64_t done = 0;
  std::int64_t elsewhere = 0;
  std::vector<std::string> trained;
  std::vector<std::string> errors;
  for (const train::SweepEntry& entry : entries) {
    if (entry.result) ++done;
    if (entry.is_from_here) trained.push_back(entry.run.name);
    if (entry.is_elsewhere && !entry.result) ++elsewhere;
    if (!entry.error.empty()) errors.push_back(entry.run.name + ": " + entry.error);
  }
  if (!common.quiet) {
    fmt::print("{}: {} runs trained here, {} of {} are done", folder.string(), trained.size(), done,
               entries.size());
    fmt::print("{}\n", elsewhere > 0 ? fmt::format(", {} in other processes", elsewhere) : "");
  }
  if (!errors.empty()) {
    fail("sweep", "{} of {} runs failed, the first is {}", errors.size(),
         errors.size() + trained.size(), errors.front());
  }
  if (common.json) {
    print_json(
        {{"trained", trained}, {"done", done}, {"elsewhere", elsewhere}, {"runs", entries.size()}});
  }
  return 0;
}

int run_manifest(const SweepArguments& arguments, const CommonOptions& common) {
  check_manifest_arguments(arguments);
  if (!arguments.collect) {
    check_workers(arguments);
    return work_on_list(arguments, common);
  }
  const fs::path folder = arguments.experiment;
  return report(
      train::read_manifest(folder), train::collect_sweep(folder), folder,
      fmt::format("not all runs are done: boolgrad sweep {} works on them", folder.string()),
      common);
}

/// The ranks of mpirun take the runs of a list that the first one writes.
int run_over_ranks(const SweepArguments& arguments, const train::Sweep& sweep,
                   const fs::path& folder, const CommonOptions& common) {
  Group& group = *common.group;
  check_same_on_ranks(group, "experiment", train::to_toml(sweep.experiment));
  if (group.is_first()) train::write_manifest(sweep, folder);
  group.barrier();
  std::optional<Progress> progress;
  train::SweepOptions options = training_options(arguments, folder, common, progress);
  options.jobs = arguments.jobs.value_or(1);
  const auto runs = static_cast<std::int64_t>(train::runs_of(sweep).size());
  options.task = group.rank() * runs / group.size();
  train::work_on_manifest(options);
  progress.reset();
  group.barrier();
  if (!group.is_first()) return 0;
  return report(sweep, train::collect_sweep(folder), folder,
                "stopped; repeat the command to continue", common);
}

int run(const SweepArguments& arguments, const CommonOptions& common) {
  if (arguments.reads_manifest()) return run_manifest(arguments, common);
  check_arguments(arguments);
  check_workers(arguments);
  std::vector<std::string> notices;
  const train::Sweep sweep = sweep_of(arguments, notices);
  print_notices(notices, common.quiet);
  const fs::path folder = folder_of(arguments, sweep);
  if (arguments.manifest) return write_list(sweep, folder, common);
  if (common.group->size() > 1) return run_over_ranks(arguments, sweep, folder, common);
  std::optional<Progress> progress;
  const train::SweepOptions options = training_options(arguments, folder, common, progress);
  const std::vector<train::SweepEntry> entries = train::run_sweep(sweep, options);
  progress.reset();
  return report(sweep, entries, folder, "stopped; repeat the command to continue", common);
}

}  // namespace

void add_sweep(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "sweep", "Train many seeds in parallel and count how many converge.",
      "boolgrad sweep add --seeds 16 --vary training.learning_rate=0.05,0.2\n"
      "  boolgrad sweep table --data iris.csv --seeds 5\n"
      "  boolgrad sweep add --seeds 100 --manifest --out shared/add\n"
      "  boolgrad sweep shared/add --task 7\n"
      "  boolgrad sweep shared/add --collect",
      "Every core trains one run at a time. Repeat the command to continue an interrupted sweep. "
      "With --manifest, any number of processes on any number of machines with a shared folder "
      "take the runs; one that dies loses only the steps since its last checkpoint.");
  const auto arguments = std::make_shared<SweepArguments>();
  command
      ->add_option("experiment", arguments->experiment,
                   "Name of a built-in experiment, a TOML file, or the folder of a list of runs")
      ->type_name("EXPERIMENT");
  command->add_option("--seeds", arguments->seeds, "Number of seeds")->type_name("N");
  command->add_option("--first-seed", arguments->first_seed, "First seed")
      ->type_name("S")
      ->capture_default_str();
  command->add_option("--steps", arguments->changes.steps, "Maximum number of updates per run")
      ->type_name("N");
  add_data_options(*command, arguments->changes);
  command
      ->add_option("--set", arguments->changes.overrides,
                   "Override a key of the experiment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--vary", arguments->variations,
                   "Try several values of a key. If repeated, try all combinations")
      ->type_name("KEY=V1,V2,...")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "Output folder; runs/NAME-sweep by default")
      ->type_name("DIR");
  command
      ->add_option("--jobs", arguments->jobs,
                   "Number of parallel runs; the number of threads by default")
      ->type_name("J");
  command->add_flag("--manifest", arguments->manifest,
                    "Train nothing; write a list of the runs, for processes with --task");
  command
      ->add_option("--task", arguments->task,
                   "Train runs of a list, beginning with run N; by default N is "
                   "SLURM_ARRAY_TASK_ID, or 0")
      ->type_name("N");
  command->add_flag("--collect", arguments->collect, "Make the table of a list from its results");
  command
      ->add_option("--stale-after", arguments->stale_after,
                   "Take over runs of processes on other machines that have not shown for so long")
      ->type_name("SECONDS")
      ->capture_default_str();
  add_device(*command, arguments->device);
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
