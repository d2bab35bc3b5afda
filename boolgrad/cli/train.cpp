// `boolgrad train`: trains an experiment, from the start or from a checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/backend/device/devices.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/cli/data_options.h"
#include "boolgrad/cli/experiment_file.h"
#include "boolgrad/cli/interruption.h"
#include "boolgrad/cli/train_view.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/inspection.h"
#include "boolgrad/train/experiment/changes.h"
#include "boolgrad/train/learners/learner.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/ranks.h"
#include "boolgrad/train/run/report.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/run/run_folder.h"
#include "boolgrad/train/search/trainer.h"

namespace boolgrad::cli {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  std::string experiment;  ///< empty: that of the checkpoint
  train::ExperimentChanges changes;
  Device device = {};
  std::string out;
  bool resume = false;
  std::string resume_from;  ///< empty: `out` or the default folder
  bool overwrite = false;
  bool lists = false;  ///< print the built-in experiments
};

// ---------------------------------------------------------------------------------------------
// The experiment

/// Throws for options that this kind of experiment does not use.
void check_use(const train::ExperimentChanges& changes, const train::Experiment& experiment) {
  check_data_options("train", changes, experiment);
  if (!changes.memory.empty() && !experiment.is_automaton()) {
    throw UsageError(
        fmt::format("[train] --memory is for automata, not for {}", printable(experiment.name)));
  }
  if (!changes.init.empty() && experiment.is_automaton()) {
    throw UsageError(fmt::format("[train] --init is for circuits and classifiers, not for {}",
                                 printable(experiment.name)));
  }
}

train::Experiment experiment_from_file(const TrainArguments& arguments,
                                       std::vector<std::string>& notices) {
  const fs::path path = experiment_file("train", arguments.experiment);
  check_use(arguments.changes, train::read_experiment(path));
  return train::changed_experiment(path, arguments.changes, &notices);
}

train::Experiment experiment_from_checkpoint(const fs::path& folder,
                                             const TrainArguments& arguments,
                                             std::vector<std::string>& notices) {
  const fs::path path = folder / train::checkpoint_file;
  const train::Experiment saved = train::load_checkpoint(path).experiment;
  check_use(arguments.changes, saved);
  notices = train::rename_notices(train::overrides_of(arguments.changes, saved));
  train::ExperimentChanges changes = arguments.changes;
  changes.circuit = saved.network.circuit;
  return train::changed_experiment(train::to_toml(saved), path.string(), "", "", changes);
}

train::Experiment experiment_of(const TrainArguments& arguments,
                                std::vector<std::string>& notices) {
  if (!arguments.experiment.empty()) return experiment_from_file(arguments, notices);
  if (arguments.resume && !arguments.resume_from.empty()) {
    return experiment_from_checkpoint(arguments.resume_from, arguments, notices);
  }
  if (arguments.resume && !arguments.out.empty()) {
    return experiment_from_checkpoint(arguments.out, arguments, notices);
  }
  throw UsageError(fmt::format("[train] expected an experiment ({} or a TOML file), received none",
                               fmt::join(built_in_names(), ", ")));
}

/// The folder that was asked for, or the first default one without a run of other settings.
fs::path folder_of(const TrainArguments& arguments, const train::Experiment& experiment,
                   std::vector<std::string>& notices) {
  if (!arguments.resume_from.empty()) return arguments.resume_from;
  if (!arguments.out.empty()) return arguments.out;
  fs::path base = train::default_run_folder(experiment);
  if (arguments.resume) return train::resumable_run_folder(base, experiment);
  if (arguments.overwrite) return base;
  fs::path folder = train::free_run_folder(base, experiment);
  if (folder != base) {
    notices.push_back(fmt::format("{} has a run with other settings; this one is in {}",
                                  base.string(), folder.string()));
  }
  return folder;
}

/// Throws for a folder whose run would be lost.
void check_folder(const TrainArguments& arguments, const fs::path& folder,
                  const train::Experiment& experiment) {
  if (arguments.resume || arguments.overwrite) return;
  const std::optional<std::string> other = train::other_run_in(folder, experiment);
  if (!other) return;
  throw UsageError(fmt::format(
      "[train] {} has a run with other settings{}: expected another --out, or --overwrite",
      folder.string(), other->empty() ? "" : fmt::format(" ({})", printable(*other))));
}

/// The ranks on a machine share its GPUs in turn, unless one was asked for by number.
Device device_of_rank(Device device, const Group& group) {
  if (group.size() == 1 || device.is_cpu() || device.index > 0) return device;
  const auto count =
      static_cast<int>(std::ranges::count_if(all_devices(), [&](const DeviceDescription& one) {
        return one.backend == device.backend && one.why_not.empty();
      }));
  device.index = rank_on_this_machine() % std::max(1, count);
  return device;
}

/// The folder that the first rank has chosen.
fs::path shared_folder_of(const TrainArguments& arguments, const train::Experiment& experiment,
                          Group& group, std::vector<std::string>& notices) {
  fs::path folder;
  if (group.is_first()) {
    folder = folder_of(arguments, experiment, notices);
    train::make_run_folder(folder);
    check_folder(arguments, folder, experiment);
  }
  return text_of_first(group, folder.string());
}

// ---------------------------------------------------------------------------------------------

void check_arguments(const TrainArguments& arguments) {
  if (arguments.changes.steps && arguments.changes.epochs) {
    throw UsageError("[train] expected --steps or --epochs, received both");
  }
  if (!arguments.resume_from.empty() && !arguments.out.empty() &&
      arguments.resume_from != arguments.out) {
    throw UsageError("[train] expected the same folder for --resume and --out, received two");
  }
  if (arguments.resume && arguments.overwrite) {
    throw UsageError("[train] expected --resume or --overwrite, received both");
  }
  check_device(arguments.device, on_gpus);
}

/// Prints settings that are not in the experiment's file.
void print_setting(const TrainArguments& arguments, const train::Trainer& trainer,
                   double loading_seconds) {
  const train::Experiment& experiment = trainer.experiment();
  print_needed_memory(experiment);
  if (experiment.is_classifier()) {
    print_samples(experiment, trainer.learner().model(), loading_seconds);
  }
  if (!experiment.is_automaton()) return;
  if (!arguments.changes.target.empty()) print_target(experiment);
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

int list_experiments(const CommonOptions& common) {
  if (!common.quiet) fmt::print("{}", built_in_list());
  if (common.json) print_json({{"experiments", built_in_names()}});
  return 0;
}

int run(const TrainArguments& arguments, const CommonOptions& common) {
  if (arguments.lists) return list_experiments(common);
  check_arguments(arguments);
  Group& group = *common.group;
  std::vector<std::string> notices;
  train::Experiment asked = experiment_of(arguments, notices);
  if (is_started_as_rank()) asked = train::with_blocks(asked, group, notices);
  print_notices(notices, common.quiet);
  notices.clear();
  const auto loading = std::chrono::steady_clock::now();
  if (!common.quiet && asked.is_classifier()) show_loading(asked);
  train::Trainer trainer(asked, device_of_rank(arguments.device, group), group);
  train::check_agreement(trainer);
  const double loading_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - loading).count();
  const train::Experiment& experiment = trainer.experiment();
  train::RunOptions options;  // only if the experiment is valid
  options.folder = shared_folder_of(arguments, experiment, group, notices);
  print_notices(notices, common.quiet);
  options.resume = arguments.resume;
  options.overwrite = arguments.overwrite;
  options.stop = interrupted;
  if (!common.quiet) print_setting(arguments, trainer, loading_seconds);
  TrainView view(experiment, common.quiet);
  options.watch = [&](std::int64_t steps, const train::LogEntry& last) { view.watch(steps, last); };
  watch_for_interruption();
  const train::RunReport report = train::run_training(trainer, options);
  view.finish(report.last);
  if (!group.is_first()) return 0;
  const train::Plots plots = plots_of(experiment, trainer, options.folder);
  const std::optional<train::TestResult> test = train::test_result(experiment, report);
  if (!common.quiet) print_summary(experiment, report, plots, test);
  if (common.json) print_json(train_json(experiment, report, plots, test, loading_seconds));
  return 0;
}

}  // namespace

void add_train(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "train", "Train a built-in experiment or a TOML file.",
                  "boolgrad train add --seed 2 --knockout 0.1\n"
                  "  boolgrad train fashion-mnist --epochs 5\n"
                  "  boolgrad train table --data iris.csv --target species\n"
                  "  boolgrad train multiply --init multiplier.blif");
  const auto arguments = std::make_shared<TrainArguments>();
  command
      ->add_option("experiment", arguments->experiment,
                   "Name of a built-in experiment, or a TOML file")
      ->type_name("EXPERIMENT");
  command->add_option("--seed", arguments->changes.seed,
                      "Seed of wiring, initialisation and batches");
  command->add_option("--steps", arguments->changes.steps, "Number of updates")->type_name("N");
  command
      ->add_option("--epochs", arguments->changes.epochs,
                   "Number of passes over all cases or samples, instead of --steps")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--knockout", arguments->changes.knockout,
                   "Mask a random share of the hidden gates half-way through the run")
      ->type_name("SHARE");
  add_data_options(*command, arguments->changes);
  command
      ->add_option(
          "--init", arguments->changes.init,
          "Start from a circuit: netlist text, BLIF, AIGER, structural Verilog, a model or "
          "the folder of a run")
      ->type_name("FILE");
  command
      ->add_option("--memory", arguments->changes.memory,
                   "Memory limit for the backward pass of an automaton, such as 200MB")
      ->type_name("SIZE");
  command
      ->add_option("--set", arguments->changes.overrides,
                   "Override a key of the experiment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--out", arguments->out,
                   "Output folder; runs/NAME-SEED by default, or the next free one")
      ->type_name("DIR");
  CLI::Option* resume =
      command
          ->add_option("--resume", arguments->resume_from, "Continue from the folder's checkpoint")
          ->type_name("[DIR]")
          ->expected(0, 1);
  command->add_flag("--list", arguments->lists, "List the built-in experiments and exit");
  command->add_flag("--overwrite", arguments->overwrite,
                    "Replace a run with other settings in the output folder");
  add_device(*command, arguments->device);
  command->callback([arguments, resume, &common, &job] {
    arguments->resume = resume->count() > 0;
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
