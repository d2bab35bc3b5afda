// `boolgrad train`: trains an experiment in a folder, from the start or from its checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/shipped.h"
#include "boolgrad/core/progress.h"
#include "boolgrad/core/text.h"
#include "boolgrad/train/checkpoint.h"
#include "boolgrad/train/learner.h"
#include "boolgrad/train/run.h"

namespace boolgrad::cli {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  std::string experiment;  ///< empty where the checkpoint says it
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> epochs;
  std::optional<double> knockout;
  std::vector<std::string> overrides;
  std::string device = "cpu";
  std::string out;
  bool resume = false;
  std::string resume_from;  ///< empty where it is `out` or the folder a new run would take
};

// ---------------------------------------------------------------------------------------------
// Which experiment

std::vector<std::string> built_in_names() {
  std::vector<std::string> names;
  for (const fs::path& file : shipped_files("experiments", ".toml")) {
    names.push_back(file.stem().string());
  }
  return names;
}

/// The file of an experiment that is given by its path or by the name of a built-in one.
fs::path experiment_file(const std::string& given) {
  if (given.ends_with(".toml") || given.find('/') != std::string::npos) return given;
  const std::vector<std::string> names = built_in_names();
  if (std::ranges::find(names, given) == names.end()) {
    throw UsageError(
        fmt::format("[train] expected a TOML file or a built-in experiment ({}), received '{}'{}",
                    alternatives(names), printable(given), suggestion(given, names)));
  }
  return shipped_folder("experiments") / (given + ".toml");
}

/// What the options of the command line change, as `key=value`. What is set by name goes last.
std::vector<std::string> overrides_of(const TrainArguments& arguments) {
  std::vector<std::string> overrides = arguments.overrides;
  if (arguments.seed) overrides.push_back(fmt::format("seed={}", *arguments.seed));
  if (arguments.steps) overrides.push_back(fmt::format("training.steps={}", *arguments.steps));
  if (arguments.knockout) {
    overrides.emplace_back("knockout.pattern=random");
    overrides.push_back(fmt::format("knockout.share={}", *arguments.knockout));
  }
  return overrides;
}

Experiment with_epochs(Experiment experiment, std::int64_t epochs) {
  experiment.training.steps = epochs * make_learner(experiment)->steps_per_epoch();
  return experiment;
}

Experiment experiment_from_checkpoint(const fs::path& folder, const TrainArguments& arguments) {
  const fs::path path = folder / checkpoint_file;
  const std::string text = to_toml(load_checkpoint(path).experiment);
  return parse_experiment(text, path.string(), "", "", overrides_of(arguments));
}

Experiment experiment_of(const TrainArguments& arguments) {
  Experiment experiment;
  if (!arguments.experiment.empty()) {
    experiment = read_experiment(experiment_file(arguments.experiment), overrides_of(arguments));
  } else if (arguments.resume && !arguments.resume_from.empty()) {
    experiment = experiment_from_checkpoint(arguments.resume_from, arguments);
  } else if (arguments.resume && !arguments.out.empty()) {
    experiment = experiment_from_checkpoint(arguments.out, arguments);
  } else {
    throw UsageError(
        fmt::format("[train] expected an experiment ({} or a TOML file), received none",
                    fmt::join(built_in_names(), ", ")));
  }
  return arguments.epochs ? with_epochs(std::move(experiment), *arguments.epochs) : experiment;
}

fs::path folder_of(const TrainArguments& arguments, const Experiment& experiment) {
  if (!arguments.resume_from.empty()) return arguments.resume_from;
  if (!arguments.out.empty()) return arguments.out;
  return fs::path("runs") / fmt::format("{}-{}", experiment.name, experiment.seed);
}

// ---------------------------------------------------------------------------------------------
// Being stopped

volatile std::sig_atomic_t asked_to_stop = 0;

// Asked a second time, the program ends at once.
extern "C" void ask_to_stop(int signal) {
  asked_to_stop = 1;
  std::signal(signal, SIG_DFL);
}

// ---------------------------------------------------------------------------------------------
// The report

std::string percent(double share) {
  // Rounded down: 100 % is said only when nothing is missing.
  return fmt::format("{:.1f}%", static_cast<double>(static_cast<std::int64_t>(share * 1000)) / 10);
}

std::string status_text(const Experiment& experiment, std::int64_t per_epoch, std::int64_t steps,
                        const LogEntry& last) {
  const std::int64_t total = experiment.training.steps;
  std::string text = fmt::format("epoch {}/{}", steps / per_epoch, total / per_epoch);
  if (per_epoch > 1) text += fmt::format(" step {}/{}", steps, total);
  return text + fmt::format(" soft {:.2g} hard {:.0f} accuracy {}", last.evaluation.soft_loss,
                            last.evaluation.hard_loss, percent(last.evaluation.hard_accuracy));
}

std::string ending_text(const RunReport& report) {
  switch (report.ending) {
    case Ending::solved: return "solved";
    case Ending::finished: return report.last.evaluation.solved() ? "solved" : "not solved";
    case Ending::stopped: return "stopped";
  }
  return "";
}

void print_summary(const Experiment& experiment, const RunReport& report) {
  const Evaluation& evaluation = report.last.evaluation;
  fmt::print("{} (seed {}): {} after {} steps, {:.1f} s\n", printable(experiment.name),
             experiment.seed, ending_text(report), report.last.step, report.last.seconds);
  fmt::print("  soft loss      {:.6g}\n", evaluation.soft_loss);
  fmt::print("  hard loss      {:.0f} wrong bits\n", evaluation.hard_loss);
  fmt::print("  hard accuracy  {} of cases, {} of bits\n", percent(evaluation.hard_accuracy),
             percent(evaluation.bit_accuracy));
  if (report.last.masked > 0) fmt::print("  switched off   {}\n", report.last.masked);
  if (report.ending == Ending::stopped) {
    const std::string folder = report.checkpoint.parent_path().string();
    fmt::print("  checkpoint     {}\n  to go on       boolgrad train --resume {}\n",
               report.checkpoint.string(), folder);
  } else {
    fmt::print("  model          {}\n", report.model.string());
  }
}

nlohmann::json to_json(const Experiment& experiment, const RunReport& report) {
  const Evaluation& evaluation = report.last.evaluation;
  const bool stopped = report.ending == Ending::stopped;
  return {{"experiment", experiment.name},
          {"seed", experiment.seed},
          {"steps", report.last.step},
          {"soft_loss", evaluation.soft_loss},
          {"hard_loss", evaluation.hard_loss},
          {"hard_accuracy", evaluation.hard_accuracy},
          {"bit_accuracy", evaluation.bit_accuracy},
          {"seconds", report.last.seconds},
          {"stopped", stopped},
          {"model", (stopped ? report.checkpoint : report.model).string()}};
}

// ---------------------------------------------------------------------------------------------

void check_arguments(const TrainArguments& arguments) {
  if (arguments.steps && arguments.epochs) {
    throw UsageError("[train] expected --steps or --epochs, received both");
  }
  if (!arguments.resume_from.empty() && !arguments.out.empty() &&
      arguments.resume_from != arguments.out) {
    throw UsageError("[train] expected one folder, received --resume and --out with two");
  }
  check_device(arguments.device);
}

int run(const TrainArguments& arguments, const CommonOptions& common) {
  check_arguments(arguments);
  const Experiment experiment = experiment_of(arguments);
  const std::int64_t per_epoch = make_learner(experiment)->steps_per_epoch();
  RunOptions options;
  options.folder = folder_of(arguments, experiment);
  options.resume = arguments.resume;
  options.stop = [] { return asked_to_stop != 0; };
  std::optional<Progress> progress;
  options.watch = [&](std::int64_t steps, const LogEntry& last) {
    if (!progress)
      progress.emplace(stderr, common.quiet, "steps", experiment.training.steps, steps);
    if (progress->due() || steps == experiment.training.steps) {
      progress->show(steps, status_text(experiment, per_epoch, steps, last));
    }
  };
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  const RunReport report = run_experiment(experiment, options);
  progress.reset();
  if (!common.quiet) print_summary(experiment, report);
  if (common.json) print_json(to_json(experiment, report));
  return 0;
}

}  // namespace

void add_train(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(root, common, "train",
                                  "Trains an experiment: a built-in one by name or a TOML file.",
                                  "boolgrad train add --seed 2 --knockout 0.1");
  const auto arguments = std::make_shared<TrainArguments>();
  command->add_option("experiment", arguments->experiment, "A built-in experiment or a TOML file")
      ->type_name("EXPERIMENT");
  command->add_option("--seed", arguments->seed, "Seed of wires, initial values and batches");
  command->add_option("--steps", arguments->steps, "Updates to make")->type_name("N");
  command->add_option("--epochs", arguments->epochs, "The same in passes over all cases")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--knockout", arguments->knockout,
                   "Share of the hidden gates to switch off half-way")
      ->type_name("SHARE");
  command->add_option("--set", arguments->overrides, "Change a key of the experiment")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "Folder of the run; runs/NAME-SEED by default")
      ->type_name("DIR");
  CLI::Option* resume =
      command->add_option("--resume", arguments->resume_from, "Go on from the folder's checkpoint")
          ->type_name("[DIR]")
          ->expected(0, 1);
  add_device(*command, arguments->device);
  command->callback([arguments, resume, &common, &job] {
    arguments->resume = resume->count() > 0;
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
