#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "arrays.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/experiment/changes.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/metrics.h"
#include "boolgrad/train/run/report.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/run/run_folder.h"
#include "boolgrad/train/search/trainer.h"
#include "module.h"

namespace boolgrad::python {
namespace {

namespace fs = std::filesystem;

using DescribedSamplesPtr = std::shared_ptr<const data::DescribedSamples>;

/// Samples of arrays. x is [samples, features] or images, [samples, height, width] or [samples,
/// channels, height, width]. Labels are class indices if there are names of classes, else values.
DescribedSamplesPtr samples_of(nb::handle x, nb::handle y, const std::vector<std::string>& classes,
                               const std::vector<std::string>& feature_names) {
  constexpr std::string_view where = "train";
  auto result = std::make_shared<data::DescribedSamples>();
  data::DataFormat& format = result->format;
  Tensor features = tensor_of(x, where, "x");
  const Shape shape = features.shape();
  if (shape.size() == 3 || shape.size() == 4) {
    format.channels = shape.size() == 4 ? shape[1] : 1;
    format.height = shape[shape.size() - 2];
    format.width = shape.back();
    features = features.viewed_as({shape[0], format.channels * format.height * format.width});
  }
  result->samples.features = features_of(array_of(features), where);
  Tensor labels = tensor_of(y, where, "y");
  if (labels.rank() != 1 || labels.shape()[0] != features.shape()[0]) {
    fail(where, "expected one label per sample, y of shape [{}], received {}", features.shape()[0],
         to_string(labels.shape()));
  }
  if (features.size() == 0) {
    fail(where, "expected at least one sample and one feature, received x of shape {}",
         to_string(shape));
  }
  result->samples.labels = cast(labels, classes.empty() ? DType::float32 : DType::int32);
  format.classes = classes;
  for (const std::string& name : feature_names) format.columns.push_back({name, {}});
  return result;
}

/// What decides what a run does.
struct Arguments {
  std::optional<fs::path> file;  ///< of the experiment
  std::string text;              ///< of the experiment, if there is no file
  std::string name;              ///< default name of an experiment given as text
  train::ExperimentChanges changes;
  DescribedSamplesPtr samples = nullptr;
  std::string device = "cpu";
};

train::Experiment experiment_of(const Arguments& arguments, std::vector<std::string>& notices) {
  train::Experiment experiment =
      arguments.file ? train::changed_experiment(*arguments.file, arguments.changes, &notices)
                     : train::changed_experiment(arguments.text, arguments.name, arguments.name, "",
                                                 arguments.changes, &notices);
  if (arguments.samples) {
    if (!experiment.is_classifier()) {
      fail("train", "expected the experiment of a classifier for data, received {}",
           experiment.name);
    }
    const bool wants_values = experiment.head.kind == HeadKind::regression;
    if (wants_values != arguments.samples->format.classes.empty()) {
      fail("train", "expected {} as y for head.kind = {}, received {}",
           wants_values ? "values" : "classes", wants_values ? "regression" : "classes",
           wants_values ? "classes" : "values");
    }
    experiment.data.in_memory = arguments.samples;
    experiment.data.path.clear();
  }
  return experiment;
}

/// The circuit that a run started from is in its checkpoint; its file may be gone.
Arguments with_saved_circuit(Arguments arguments, const fs::path& folder) {
  const fs::path checkpoint = folder / train::checkpoint_file;
  std::error_code ignored;
  if (fs::exists(checkpoint, ignored)) {
    arguments.changes.circuit = train::load_checkpoint(checkpoint).experiment.network.circuit;
  }
  return arguments;
}

std::string_view to_string(train::Ending ending) {
  switch (ending) {
    case train::Ending::solved: return "solved";
    case train::Ending::finished: return "finished";
    case train::Ending::stopped: return "stopped";
    case train::Ending::waited: return "waited";
  }
  return "";
}

nb::object metrics_of(const train::LogEntry& entry) {
  return object_of(nlohmann::ordered_json::parse(train::to_json(entry)));
}

/// A run in its folder, and what it needs to live.
class Run {
 public:
  Run(const Arguments& arguments, const std::optional<fs::path>& folder, bool resume,
      bool overwrite) {
    const Device device = device_called(arguments.device);
    experiment_ = experiment_of(
        resume && folder ? with_saved_circuit(arguments, *folder) : arguments, notices_);
    trainer_ = std::make_unique<train::Trainer>(experiment_, device);
    const train::Experiment& complete = trainer_->experiment();
    const fs::path base = train::default_run_folder(complete);
    if (folder) folder_ = *folder;
    else if (resume) folder_ = train::resumable_run_folder(base, complete);
    else folder_ = overwrite ? base : train::free_run_folder(base, complete);
    run_ = std::make_unique<train::Run>(
        *trainer_, train::RunOptions{.folder = folder_, .resume = resume, .overwrite = overwrite});
  }

  /// Takes steps until there is a new log line, the run ends, or some time has passed, so that
  /// Python can look after signals. Returns whether there is a new log line.
  bool advance(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    const std::int64_t before = run_->last().step;
    while (!run_->ending() && run_->last().step == before && Clock::now() < end) run_->advance();
    return run_->last().step != before;
  }

  void stop() { run_->stop(); }

  nb::dict finish(bool plots) {
    train::RunReport report;
    {
      const nb::gil_scoped_release no_gil;
      report = run_->finish();
      if (plots) {
        train::write_plots(folder_, fmt::format("{}, seed {}", experiment_.name, experiment_.seed),
                           train::hard_loss_name(experiment_),
                           trainer_->learner().model().inspect());
      }
    }
    nb::dict result;
    result["ending"] = std::string(to_string(report.ending));
    result["metrics"] = metrics_of(report.last);
    result["best"] = report.best ? metrics_of(*report.best) : nb::none();
    result["checkpoint"] = report.checkpoint.string();
    result["model"] = report.model.empty() ? nb::none() : nb::cast(report.model.string());
    return result;
  }

  bool ended() const { return run_->ending().has_value(); }
  std::int64_t steps() const { return run_->steps(); }
  std::int64_t total_steps() const { return trainer_->experiment().training.steps; }
  nb::object metrics() const { return metrics_of(run_->last()); }
  std::string folder() const { return folder_.string(); }
  std::string name() const { return experiment_.name; }
  std::string experiment() const { return train::to_toml(trainer_->experiment()); }
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  train::Experiment experiment_;
  std::vector<std::string> notices_;
  fs::path folder_;
  std::unique_ptr<train::Trainer> trainer_;
  std::unique_ptr<train::Run> run_;
};

}  // namespace

void bind_training(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<data::DescribedSamples>(module, "_Samples", "Training samples in memory.");
  module.def(
      "_samples",
      [](nb::handle x, nb::handle y, const std::vector<std::string>& classes,
         const std::vector<std::string>& feature_names) {
        return std::const_pointer_cast<data::DescribedSamples>(
            samples_of(x, y, classes, feature_names));
      },
      "x"_a.none(), "y"_a.none(), "classes"_a, "feature_names"_a);
  nb::class_<Run>(module, "_Run", "A training run in progress. Use `boolgrad.train`.")
      .def(
          "__init__",
          [](Run* self, const std::optional<fs::path>& file, const std::string& text,
             const std::string& name, std::optional<std::int64_t> seed,
             std::optional<std::int64_t> steps, std::optional<std::int64_t> epochs,
             std::optional<double> knockout, const std::string& data_path,
             const std::string& target, const std::string& memory,
             const std::vector<std::string>& overrides,
             const std::shared_ptr<data::DescribedSamples>& samples, const std::string& device,
             const std::optional<fs::path>& folder, bool resume, bool overwrite) {
            const Arguments arguments{.file = file,
                                      .text = text,
                                      .name = name,
                                      .changes = {.seed = seed,
                                                  .steps = steps,
                                                  .epochs = epochs,
                                                  .knockout = knockout,
                                                  .data = data_path,
                                                  .target = target,
                                                  .memory = memory,
                                                  .overrides = overrides},
                                      .samples = samples,
                                      .device = device};
            const nb::gil_scoped_release no_gil;
            new (self) Run(arguments, folder, resume, overwrite);
          },
          nb::kw_only(), "file"_a = nb::none(), "text"_a = "", "name"_a = "experiment",
          "seed"_a = nb::none(), "steps"_a = nb::none(), "epochs"_a = nb::none(),
          "knockout"_a = nb::none(), "data_path"_a = "", "target"_a = "", "memory"_a = "",
          "overrides"_a = std::vector<std::string>(), "samples"_a = nb::none(), "device"_a = "cpu",
          "folder"_a = nb::none(), "resume"_a = false, "overwrite"_a = false)
      .def("advance", &Run::advance, "seconds"_a = 0.05, nb::call_guard<nb::gil_scoped_release>())
      .def("stop", &Run::stop, nb::call_guard<nb::gil_scoped_release>())
      .def("finish", &Run::finish, "plots"_a = false)
      .def_prop_ro("ended", &Run::ended)
      .def_prop_ro("steps", &Run::steps)
      .def_prop_ro("total_steps", &Run::total_steps)
      .def_prop_ro("metrics", &Run::metrics)
      .def_prop_ro("folder", &Run::folder)
      .def_prop_ro("name", &Run::name)
      .def_prop_ro("experiment", &Run::experiment)
      .def_prop_ro("notices", &Run::notices);
  module.def(
      "_wants_values",
      [](const std::optional<fs::path>& file, const std::string& text, const std::string& name,
         const std::vector<std::string>& overrides) {
        std::vector<std::string> notices;
        const train::ExperimentChanges changes{.overrides = overrides};
        return experiment_of({.file = file, .text = text, .name = name, .changes = changes},
                             notices)
                   .head.kind == HeadKind::regression;
      },
      "file"_a = nb::none(), "text"_a = "", "name"_a = "experiment",
      "overrides"_a = std::vector<std::string>(),
      "Whether the experiment learns values, not classes.");
  module.def(
      "_checkpoint_experiment",
      [](const fs::path& folder) {
        return train::to_toml(train::load_checkpoint(folder / train::checkpoint_file).experiment);
      },
      "folder"_a, "The experiment of a folder's checkpoint, as TOML.");
  module.def("experiment_keys", &train::experiment_keys,
             "The keys of experiments, such as `training.steps`.");
}

}  // namespace boolgrad::python
