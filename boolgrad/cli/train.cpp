// `boolgrad train`: trains an experiment in a folder, from the start or from its checkpoint.
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
  std::string experiment;  ///< empty where the checkpoint says it
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> epochs;
  std::optional<double> knockout;
  std::string data;    ///< a folder or file of samples; empty for the experiment's own
  std::string target;  ///< a picture, bitmap or column; empty for the experiment's own
  std::string memory;  ///< of an automaton's backward; empty for the experiment's own
  std::vector<std::string> overrides;
  Device device = {};
  std::string out;
  bool resume = false;
  std::string resume_from;  ///< empty where it is `out` or the folder a new run would take
};

// ---------------------------------------------------------------------------------------------
// Which experiment

/// An override whose value is a text, whatever it looks like.
std::string quoted(std::string_view key, std::string_view text) {
  // A literal text of TOML, in which nothing is special but its end.
  if (text.find('\'') == std::string_view::npos) return fmt::format("{}='{}'", key, text);
  return fmt::format("{}={}", key, text);
}

/// A bitmap brings the size of its grid along; a picture is fitted to the experiment's.
std::vector<std::string> target_overrides(const std::string& target) {
  std::vector<std::string> overrides = {"task.kind=picture",
                                        fmt::format("task.file={}", fs::absolute(target).string())};
  if (target.ends_with(".txt")) {
    const Shape shape = read_bitmap(target).bits.shape();
    overrides.push_back(fmt::format("automaton.height={}", shape[1]));
    overrides.push_back(fmt::format("automaton.width={}", shape[2]));
  }
  return overrides;
}

/// What the options of the command line change in `experiment`, as `key=value`. What is set by name
/// goes last, but for the target, whose grid may be set.
std::vector<std::string> overrides_of(const TrainArguments& arguments,
                                      const Experiment& experiment) {
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
    // In quotes: a plain number of bytes is a text too.
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

Experiment with_epochs(Experiment experiment, std::int64_t epochs) {
  experiment.training.steps = epochs * steps_per_epoch(experiment);
  return experiment;
}

/// Refuses options that the experiment, as it is without them, has no use for.
void check_use(const TrainArguments& arguments, const Experiment& experiment) {
  const bool grows_pattern = experiment.is_automaton() && experiment.task.kind != TaskKind::life;
  if (!arguments.target.empty() && !grows_pattern && experiment.task.kind != TaskKind::csv) {
    throw UsageError(
        fmt::format("[train] expected --target with an automaton that grows a pattern or with a "
                    "table, received {}",
                    printable(experiment.name)));
  }
  if (!arguments.data.empty() && !experiment.is_classifier()) {
    throw UsageError(fmt::format("[train] expected --data with samples to learn from, received {}",
                                 printable(experiment.name)));
  }
  if (!arguments.memory.empty() && !experiment.is_automaton()) {
    throw UsageError(fmt::format("[train] expected --memory with an automaton, received {}",
                                 printable(experiment.name)));
  }
}

Experiment experiment_from_file(const TrainArguments& arguments,
                                std::vector<std::string>& notices) {
  const fs::path path = experiment_file("train", arguments.experiment);
  const Experiment plain = read_experiment(path);
  check_use(arguments, plain);
  return read_experiment(path, overrides_of(arguments, plain), &notices);
}

Experiment experiment_from_checkpoint(const fs::path& folder, const TrainArguments& arguments) {
  const fs::path path = folder / checkpoint_file;
  const Experiment saved = load_checkpoint(path).experiment;
  check_use(arguments, saved);
  return parse_experiment(to_toml(saved), path.string(), "", "", overrides_of(arguments, saved));
}

Experiment experiment_of(const TrainArguments& arguments, std::vector<std::string>& notices) {
  Experiment experiment;
  if (!arguments.experiment.empty()) {
    experiment = experiment_from_file(arguments, notices);
  } else if (arguments.resume && !arguments.resume_from.empty()) {
    experiment = experiment_from_checkpoint(arguments.resume_from, arguments);
  } else if (arguments.resume && !arguments.out.empty()) {
    experiment = experiment_from_checkpoint(arguments.out, arguments);
  } else {
    throw UsageError(
        fmt::format("[train] expected an experiment ({} or a TOML file), received none",
                    fmt::join(built_in_names(), ", ")));
  }
  if (!arguments.epochs || experiment.is_classifier()) return experiment;
  return with_epochs(std::move(experiment), *arguments.epochs);
}

fs::path folder_of(const TrainArguments& arguments, const Experiment& experiment) {
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
    throw UsageError("[train] expected one folder, received --resume and --out with two");
  }
  check_device(arguments.device, on_gpus);
}

/// Says what is about to be trained where that is not in the experiment's file.
void print_setting(const TrainArguments& arguments, const Trainer& trainer) {
  const Experiment& experiment = trainer.experiment();
  if (experiment.is_classifier()) print_samples(experiment, trainer.learner().model());
  if (!experiment.is_automaton()) return;
  if (!arguments.target.empty()) print_target(experiment);
  if (arguments.device.is_cpu()) {  // other devices choose for themselves
    print_memory(experiment, trainer.learner().model().rule());
  }
  std::fflush(stdout);  // before anything comes on standard error
}

Plots plots_of(const Experiment& experiment, const Trainer& trainer, const fs::path& folder) {
  return write_plots(folder, fmt::format("{}, seed {}", experiment.name, experiment.seed),
                     hard_loss_name(experiment), trainer.learner().model().inspect());
}

int run(const TrainArguments& arguments, const CommonOptions& common) {
  check_arguments(arguments);
  std::vector<std::string> notices;
  const Experiment asked = experiment_of(arguments, notices);
  if (!common.quiet) {
    for (const std::string& notice : notices) fmt::print(stderr, "note: {}\n", notice);
  }
  RunOptions options;
  options.folder = folder_of(arguments, asked);
  options.resume = arguments.resume;
  options.stop = interrupted;
  Trainer trainer(asked, arguments.device);
  make_run_folder(options.folder);  // once it is known that there is something to train
  const Experiment& experiment = trainer.experiment();
  if (!common.quiet) print_setting(arguments, trainer);
  TrainView view(experiment, common.quiet);
  options.watch = [&](std::int64_t steps, const LogEntry& last) { view.watch(steps, last); };
  watch_for_interruption();
  const RunReport report = run_training(trainer, options);
  view.finish(report.last);
  const Plots plots = plots_of(experiment, trainer, options.folder);
  if (!common.quiet) print_summary(experiment, report, plots);
  if (common.json) print_json(train_json(experiment, report, plots));
  return 0;
}

}  // namespace

void add_train(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(root, common, "train",
                                  "Trains an experiment: a built-in one by name or a TOML file.",
                                  "boolgrad train add --seed 2 --knockout 0.1\n"
                                  "  boolgrad train fashion-mnist --epochs 5\n"
                                  "  boolgrad train table --data iris.csv --target species");
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
  command
      ->add_option("--data", arguments->data,
                   "Samples to learn from: a folder with IDX, CIFAR-10 or NPY files, or a CSV file")
      ->type_name("PATH");
  command
      ->add_option(
          "--target", arguments->target,
          "Pattern that an automaton is to grow: a PNG, or a bitmap as text (.txt); or the "
          "column of a table that is to be learned")
      ->type_name("FILE|COLUMN");
  command
      ->add_option("--memory", arguments->memory,
                   "Most that the backward of an automaton may keep, as in 200MB")
      ->type_name("SIZE");
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
