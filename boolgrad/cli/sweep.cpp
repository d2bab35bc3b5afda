// `boolgrad sweep`: trains many seeds of an experiment, and variations of it, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/experiment_file.h"
#include "boolgrad/cli/interruption.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/progress.h"
#include "boolgrad/core/text.h"
#include "boolgrad/core/tty.h"
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
  std::optional<std::int64_t> steps;
  std::vector<std::string> overrides;
  std::vector<std::string> variations;
  Device device = {};
  std::string out;
  std::optional<int> jobs;
};

// ---------------------------------------------------------------------------------------------
// What is asked for

void check_arguments(const SweepArguments& arguments) {
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
  if (arguments.jobs && *arguments.jobs < 1) {
    throw UsageError(
        fmt::format("[sweep] expected --jobs of at least 1, received {}", *arguments.jobs));
  }
  if (!arguments.device.is_cpu() && arguments.jobs.value_or(1) > 1) {
    throw UsageError(fmt::format("[sweep] expected --jobs 1 on one {} device, received {}",
                                 to_string(arguments.device), *arguments.jobs));
  }
  check_device(arguments.device, on_gpus);
}

Sweep sweep_of(const SweepArguments& arguments, std::vector<std::string>& notices) {
  std::vector<std::string> overrides = arguments.overrides;
  if (arguments.steps) {
    overrides.push_back(fmt::format("training.steps={}", *arguments.steps));
  }
  Sweep sweep{.experiment = read_experiment(experiment_file("sweep", arguments.experiment),
                                            overrides, &notices),
              .variations = {},
              .first_seed = arguments.first_seed,
              .seeds = *arguments.seeds};
  if (arguments.steps) sweep.experiment.training.epochs = 0;
  for (const std::string& text : arguments.variations) {
    sweep.variations.push_back(parse_variation(text));
  }
  return sweep;
}

/// A run a core, or one after another on a device.
int jobs_of(const SweepArguments& arguments) {
  if (!arguments.device.is_cpu()) return 1;
  return arguments.jobs.value_or(thread_count());
}

// ---------------------------------------------------------------------------------------------
// What is shown

std::string progress_text(const SweepProgress& progress) {
  constexpr std::size_t most_shown = 2;
  std::string text =
      fmt::format("{}/{} runs, {} converged", progress.done, progress.runs, progress.converged);
  const std::size_t shown = std::min(most_shown, progress.running.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SweepProgress::Running& running = progress.running[i];
    text +=
        fmt::format(", {} at {} with {:.0f} wrong", running.name, running.steps, running.hard_loss);
  }
  const std::size_t others = progress.running.size() - shown;
  return others == 0 ? text : text + fmt::format(", {} more", others);
}

std::string outcome_text(const SweepEntry& entry) {
  if (!entry.error.empty()) return "failed";
  if (!entry.result) return "not done";
  return entry.result->converged() ? "yes" : "no";
}

std::vector<std::string> cells_of(const SweepEntry& entry) {
  std::vector<std::string> cells = {fmt::format("{}", entry.run.experiment.seed)};
  for (const std::string& value : entry.run.values) cells.push_back(printable(value));
  cells.push_back(outcome_text(entry));
  if (const auto& result = entry.result) {
    cells.push_back(fmt::format("{}", result->steps_to_converge.value_or(result->steps)));
    cells.push_back(fmt::format("{:.4g}", result->soft_loss));
    cells.push_back(fmt::format("{:.0f}", result->hard_loss));
    cells.push_back(fmt::format("{:.1f}", result->seconds));
  } else {
    cells.resize(cells.size() + 4);
  }
  return cells;
}

void print_table(const Sweep& sweep, const std::vector<SweepEntry>& entries) {
  std::vector<std::vector<std::string>> lines(1, {"seed"});
  for (const Variation& variation : sweep.variations) {
    lines[0].push_back(variation.key.substr(variation.key.rfind('.') + 1));
  }
  for (const std::string_view name :
       {std::string_view("converged"), std::string_view("updates"), std::string_view("soft loss"),
        hard_loss_name(sweep.experiment), std::string_view("seconds")}) {
    lines[0].emplace_back(name);
  }
  for (const SweepEntry& entry : entries) lines.push_back(cells_of(entry));
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

std::string share_text(std::int64_t converged, std::int64_t runs, std::optional<double> median) {
  std::string text = fmt::format("{} of {} converged", converged, runs);
  if (median) text += fmt::format(", after {:.0f} updates in the median", *median);
  return text;
}

/// All runs as one.
SweepVariant together(const std::vector<SweepVariant>& variants) {
  SweepVariant all;
  for (const SweepVariant& variant : variants) {
    all.runs += variant.runs;
    all.steps_to_converge.insert(all.steps_to_converge.end(), variant.steps_to_converge.begin(),
                                 variant.steps_to_converge.end());
  }
  std::ranges::sort(all.steps_to_converge);
  return all;
}

void print_report(const Sweep& sweep, const std::vector<SweepEntry>& entries,
                  const SweepFiles& files, bool stopped) {
  print_table(sweep, entries);
  const std::vector<SweepVariant> variants = variants_of(entries);
  const SweepVariant all = together(variants);
  fmt::print("{}: {}\n", printable(sweep.experiment.name),
             share_text(all.converged(), all.runs, all.median()));
  if (!sweep.variations.empty()) {
    for (const SweepVariant& variant : variants) {
      fmt::print("  {}: {}\n", variant_text(sweep, variant.values),
                 share_text(variant.converged(), variant.runs, variant.median()));
    }
  }
  for (const SweepEntry& entry : entries) {
    if (!entry.error.empty()) fmt::print("  {}: {}\n", entry.run.name, printable(entry.error));
  }
  fmt::print("  table  {}\n  plots  {}, {}\n", files.table.string(), files.converged.string(),
             files.losses.filename().string());
  if (stopped) fmt::print("  stopped; the same command goes on\n");
}

/// Of those that finished, in the order of the runs.
json steps_json(const std::vector<SweepEntry>& entries, const std::vector<std::string>* values) {
  json steps = json::array();
  for (const SweepEntry& entry : entries) {
    if (values != nullptr && entry.run.values != *values) continue;
    const bool converged = entry.result && entry.result->converged();
    steps.push_back(converged ? json(*entry.result->steps_to_converge) : json());
  }
  return steps;
}

json to_json(const Sweep& sweep, const std::vector<SweepEntry>& entries, const SweepFiles& files,
             bool stopped) {
  const std::vector<SweepVariant> variants = variants_of(entries);
  json failed = json::object();
  for (const SweepEntry& entry : entries) {
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
  if (sweep.variations.empty()) return object;
  object["variants"] = json::array();
  for (const SweepVariant& variant : variants) {
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

/// Nothing came of a sweep of which every run failed.
void check_some_ran(const std::vector<SweepEntry>& entries) {
  const bool all_failed =
      std::ranges::all_of(entries, [](const SweepEntry& entry) { return !entry.error.empty(); });
  if (all_failed) {
    fail("sweep", "expected at least one run to finish, received {} failures, the first: {}",
         entries.size(), entries.front().error);
  }
}

int run(const SweepArguments& arguments, const CommonOptions& common) {
  check_arguments(arguments);
  std::vector<std::string> notices;
  const Sweep sweep = sweep_of(arguments, notices);
  if (!common.quiet) {
    for (const std::string& notice : notices) fmt::print(stderr, "note: {}\n", notice);
  }
  SweepOptions options{.folder = arguments.out.empty()
                                     ? fs::path("runs") / (sweep.experiment.name + "-sweep")
                                     : fs::path(arguments.out),
                       .device = arguments.device,
                       .jobs = jobs_of(arguments),
                       .stop = interrupted};
  const bool silent = common.quiet || !is_terminal(stderr);
  std::optional<Progress> progress;
  options.watch = [&](const SweepProgress& now) {
    if (!progress) progress.emplace(stderr, silent, "runs", now.runs, now.done);
    if (progress->due() || now.done == now.runs) progress->show(now.done, progress_text(now));
  };
  watch_for_interruption();
  const std::vector<SweepEntry> entries = run_sweep(sweep, options);
  progress.reset();
  check_some_ran(entries);
  const SweepFiles files = write_sweep_report(options.folder, sweep, entries);
  const bool stopped = std::ranges::any_of(
      entries, [](const SweepEntry& entry) { return !entry.result && entry.error.empty(); });
  if (!common.quiet) print_report(sweep, entries, files, stopped);
  if (common.json) print_json(to_json(sweep, entries, files, stopped));
  return 0;
}

}  // namespace

void add_sweep(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "sweep",
      "Trains many seeds of an experiment side by side, a run a core, and says how many converge "
      "and when. Started anew after an interruption it goes on.",
      "boolgrad sweep add --seeds 16 --vary training.learning_rate=0.05,0.2");
  const auto arguments = std::make_shared<SweepArguments>();
  command->add_option("experiment", arguments->experiment, "A built-in experiment or a TOML file")
      ->type_name("EXPERIMENT");
  command->add_option("--seeds", arguments->seeds, "How many seeds")->type_name("N");
  command->add_option("--first-seed", arguments->first_seed, "The first of them")
      ->type_name("S")
      ->capture_default_str();
  command->add_option("--steps", arguments->steps, "Updates to make at most")->type_name("N");
  command->add_option("--set", arguments->overrides, "Change a key of the experiment")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--vary", arguments->variations,
                   "Try several values of a key; repeated, every combination")
      ->type_name("KEY=V1,V2,...")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "Folder of the sweep; runs/NAME-sweep by default")
      ->type_name("DIR");
  command->add_option("--jobs", arguments->jobs, "Runs at a time; as many as threads by default")
      ->type_name("J");
  add_device(*command, arguments->device);
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
