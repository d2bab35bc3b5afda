// `boolgrad train`: trains an experiment, from the start or from a checkpoint.
#include <fmt/format.h>

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
#include "boolgrad/cli/train_view.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/inspection.h"
#include "boolgrad/train/learners/learner.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/report.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"

namespace boolgrad::cli {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  std::string experiment;  ///< empty: that of the checkpoint
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> epochs;
  std::optional<double> knockout;
  std::string data;    ///< folder or file of samples; empty: the experiment's
  std::string target;  ///< picture, bitmap or column; empty: the experiment's
  std::string memory;  ///< limit of the backward pass; empty: the experiment's
  std::vector<std::string> overrides;
  Device device = {};
  std::string out;
  bool resume = false;
  std::string resume_from;  ///< empty: `out` or the default folder
};

// ---------------------------------------------------------------------------------------------
// The experiment

/// An override whose value is a string, even if it looks like a number.
std::string quoted(std::string_view key, std::string_view text) {
  // A literal string of TOML, without escapes.
  if (text.find('\'') == std::string_view::npos) return fmt::format("{}='{}'", key, text);
  return fmt::format("{}={}", key, text);
}

/// A bitmap sets the size of the grid; a picture is scaled to the experiment's grid.
std::vector<std::string> target_overrides(const std::string& target) {
  std::vector<std::string> overrides = {"task.kind=picture",
                                        fmt::format("task.file={}", fs::absolute(target).string())};
  if (target.ends_with(".txt")) {
    const Shape shape = data::read_bitmap(target).bits.shape();
    overrides.push_back(fmt::format("automaton.height={}", shape[1]));
    overrides.push_back(fmt::format("automaton.width={}", shape[2]));
  }
  return overrides;
}

/// The options of the command line as `key=value` overrides. Named options come last, except for
/// the target, so that its grid can be overridden.
std::vector<std::string> overrides_of(const TrainArguments& arguments,
                                      const train::Experiment& experiment) {
  std::vector<std::string> overrides;
  const bool is_classifier = experiment.is_classifier();
  if (!arguments.target.empty() && is_classifier) {
    overrides.push_back(quoted("data.target", arguments.target));
  } else if (!arguments.target.empty()) {
    overrides = target_overrides(arguments.target);
  }
  if (!arguments.data.empty()) {
    overrides.push_back(quoted("data.path", fs::absolute(arguments.data).string()));
  }
  overrides.insert(overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
  if (!arguments.memory.empty()) {
    // In quotes, so that a plain number of bytes is a string.
    overrides.push_back(fmt::format("automaton.memory=\"{}\"", arguments.memory));
  }
  if (arguments.seed) overrides.push_back(fmt::format("seed={}", *arguments.seed));
  if (arguments.steps) {
    overrides.push_back(fmt::format("training.steps={}", *arguments.steps));
    if (is_classifier) overrides.emplace_back("training.epochs=0");
  }
  if (arguments.epochs && is_classifier) {
    overrides.push_back(fmt::format("training.epochs={}", *arguments.epochs));
  }
  if (arguments.knockout) {
    overrides.emplace_back("knockout.pattern=random");
    overrides.push_back(fmt::format("knockout.share={}", *arguments.knockout));
  }
  return overrides;
}

train::Experiment with_epochs(train::Experiment experiment, std::int64_t epochs) {
  experiment.training.steps = epochs * train::steps_per_epoch(experiment);
  return experiment;
}

/// Throws for options that this kind of experiment does not use.
void check_use(const TrainArguments& arguments, const train::Experiment& experiment) {
  const bool grows_pattern =
      experiment.is_automaton() && experiment.task.kind != data::TaskKind::life;
  if (!arguments.target.empty() && !grows_pattern && experiment.task.kind != data::TaskKind::csv) {
    throw UsageError(fmt::format(
        "[train] --target is for automata that grow a pattern and for CSV files, not for {}",
        printable(experiment.name)));
  }
  if (!arguments.data.empty() && !experiment.is_classifier()) {
    throw UsageError(
        fmt::format("[train] --data is for classifiers, not for {}", printable(experiment.name)));
  }
  if (!arguments.memory.empty() && !experiment.is_automaton()) {
    throw UsageError(
        fmt::format("[train] --memory is for automata, not for {}", printable(experiment.name)));
  }
}

train::Experiment experiment_from_file(const TrainArguments& arguments,
                                       std::vector<std::string>& notices) {
  const fs::path path = experiment_file("train", arguments.experiment);
  const train::Experiment plain = train::read_experiment(path);
  check_use(arguments, plain);
  return train::read_experiment(path, overrides_of(arguments, plain), &notices);
}

train::Experiment experiment_from_checkpoint(const fs::path& folder,
                                             const TrainArguments& arguments,
                                             std::vector<std::string>& notices) {
  const fs::path path = folder / train::checkpoint_file;
  const train::Experiment saved = train::load_checkpoint(path).experiment;
  check_use(arguments, saved);
  const std::vector<std::string> overrides = overrides_of(arguments, saved);
  notices = train::rename_notices(overrides);
  return train::parse_experiment(train::to_toml(saved), path.string(), "", "", overrides);
}

train::Experiment experiment_of(const TrainArguments& arguments,
                                std::vector<std::string>& notices) {
  train::Experiment experiment;
  if (!arguments.experiment.empty()) {
    experiment = experiment_from_file(arguments, notices);
  } else if (arguments.resume && !arguments.resume_from.empty()) {
    experiment = experiment_from_checkpoint(arguments.resume_from, arguments, notices);
  } else if (arguments.resume && !arguments.out.empty()) {
    experiment = experiment_from_checkpoint(arguments.out, arguments, notices);
  } else {
    throw UsageError(
        fmt::format("[train] expected an experiment ({} or a TOML file), received none",
                    fmt::join(built_in_names(), ", ")));
  }
  if (!arguments.epochs || experiment.is_classifier()) return experiment;
  return with_epochs(std::move(experiment), *arguments.epochs);
}

fs::path folder_of(const TrainArguments& arguments, const train::Experiment& experiment) {
  if (!arguments.resume_from.empty()) return arguments.resume_from;
  if (!arguments.out.empty()) return arguments.out;
  return fs::path("runs") / fmt::format("{}-{}", experiment.name, experiment.seed);
}

// ---------------------------------------------------------------------------------------------

void check_arguments(const TrainArguments& arguments) {
  if (arguments.steps && arguments.epochs) {
    throw UsageError("[train] expected --steps or --epochs, received both");
  }
  if (!arguments.resume_from.empty() && !arguments.out.empty() &&
      arguments.resume_from != arguments.out) {
    throw UsageError("[train] expected the same folder for --resume and --out, received two");
  }
  check_device(arguments.device, on_gpus);
}

/// Prints settings that are not in the experiment's file.
void print_setting(const TrainArguments& arguments, const train::Trainer& trainer) {
  const train::Experiment& experiment = trainer.experiment();
  if (experiment.is_classifier()) print_samples(experiment, trainer.learner().model());
  if (!experiment.is_automaton()) return;
  if (!arguments.target.empty()) print_target(experiment);
  if (arguments.device.is_cpu()) {  // other devices choose their own policy
    print_memory(experiment, trainer.learner().model().rule());
  }
  std::fflush(stdout);  // before output on standard error
}

train::Plots plots_of(const train::Experiment& experiment, const train::Trainer& trainer,
                      const fs::path& folder) {
  return train::write_plots(folder, fmt::format("{}, seed {}", experiment.name, experiment.seed),
                            train::hard_loss_name(experiment), trainer.learner().model().inspect());
}

int run(const TrainArguments& arguments, const CommonOptions& common) {
  check_arguments(arguments);
  std::vector<std::string> notices;
  const train::Experiment asked = experiment_of(arguments, notices);
  print_notices(notices, common.quiet);
  train::RunOptions options;
  options.folder = folder_of(arguments, asked);
  options.resume = arguments.resume;
  options.stop = interrupted;
  train::Trainer trainer(asked, arguments.device);
  train::make_run_folder(options.folder);  // only if the experiment is valid
  const train::Experiment& experiment = trainer.experiment();
  if (!common.quiet) print_setting(arguments, trainer);
  TrainView view(experiment, common.quiet);
  options.watch = [&](std::int64_t steps, const train::LogEntry& last) { view.watch(steps, last); };
  watch_for_interruption();
  const train::RunReport report = train::run_training(trainer, options);
  view.finish(report.last);
  const train::Plots plots = plots_of(experiment, trainer, options.folder);
  if (!common.quiet) print_summary(experiment, report, plots);
  if (common.json) print_json(train_json(experiment, report, plots));
  return 0;
}

}  // namespace

void add_train(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "train", "Train a built-in experiment or a TOML file.",
                  "boolgrad train add --seed 2 --knockout 0.1\n"
                  "  boolgrad train fashion-mnist --epochs 5\n"
                  "  boolgrad train table --data iris.csv --target species");
  const auto arguments = std::make_shared<TrainArguments>();
  command
      ->add_option("experiment", arguments->experiment,
                   "Name of a built-in experiment, or a TOML file")
      ->type_name("EXPERIMENT");
  command->add_option("--seed", arguments->seed, "Seed of wiring, initialisation and batches");
  command->add_option("--steps", arguments->steps, "Number of updates")->type_name("N");
  command
      ->add_option("--epochs", arguments->epochs,
                   "Number of passes over all cases or samples, instead of --steps")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--knockout", arguments->knockout,
                   "Mask a random share of the hidden gates half-way through the run")
      ->type_name("SHARE");
  command
      ->add_option("--data", arguments->data,
                   "Training samples: a folder with IDX, CIFAR-10 or NPY files, or a CSV file")
      ->type_name("PATH");
  command
      ->add_option(
          "--target", arguments->target,
          "For automata: the pattern to grow, a PNG or a text bitmap (.txt). For CSV files: "
          "the column to predict")
      ->type_name("FILE|COLUMN");
  command
      ->add_option("--memory", arguments->memory,
                   "Memory limit for the backward pass of an automaton, such as 200MB")
      ->type_name("SIZE");
  command
      ->add_option("--set", arguments->overrides,
                   "Override a key of the experiment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--out", arguments->out, "Output folder; runs/NAME-SEED by default")
      ->type_name("DIR");
  CLI::Option* resume =
      command
          ->add_option("--resume", arguments->resume_from, "Continue from the folder's checkpoint")
          ->type_name("[DIR]")
          ->expected(0, 1);
  add_device(*command, arguments->device);
  command->callback([arguments, resume, &common, &job] {
    arguments->resume = resume->count() > 0;
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
