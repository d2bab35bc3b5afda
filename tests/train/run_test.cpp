#include "boolgrad/train/run/run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

Experiment small(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(R"(
name = "small"
[task]
kind = "add"
bits = 4
[network]
hidden = [32, 16]
arity = 4
[training]
steps = 200
learning_rate = 0.2
gradient_noise = 0.01
loss = "l4"
log_every = 20
checkpoint_every = 50
stop_when_solved = false
[knockout]
pattern = "random"
at = 0.25
)",
                          "small", "small", "", overrides);
}

/// The lines of a run's metrics without times.
std::vector<json> metrics_of(const fs::path& folder) {
  std::vector<json> lines;
  std::ifstream file(folder / metrics_file);
  std::string line;
  while (std::getline(file, line)) {
    lines.push_back(json::parse(line));
    lines.back().erase("seconds");
  }
  return lines;
}

std::vector<std::int64_t> steps_of(const std::vector<json>& metrics) {
  std::vector<std::int64_t> steps;
  for (const json& line : metrics) steps.push_back(line["step"]);
  return steps;
}

void expect_same_model(const fs::path& a, const fs::path& b) {
  const TensorFile first = load_safetensors(a);
  const TensorFile second = load_safetensors(b);
  EXPECT_EQ(first.metadata, second.metadata);
  ASSERT_EQ(first.tensors.size(), second.tensors.size());
  for (const auto& [name, tensor] : first.tensors) {
    EXPECT_TRUE(same_bits(tensor, second.tensors.at(name))) << name;
  }
}

/// Stops a run once it has taken `steps` steps.
RunOptions stopped_after(const fs::path& folder, std::int64_t steps, bool resume = false) {
  auto taken = std::make_shared<std::int64_t>(0);
  return {.folder = folder, .resume = resume, .stop = [=] { return ++*taken == steps; }};
}

TEST(Run, WritesAModelACheckpointAndMetrics) {
  const ScratchFolder scratch;
  const fs::path folder = scratch / "deep/folder";
  std::int64_t watched = 0;
  const RunReport report = run_experiment(
      small(), {.folder = folder, .watch = [&](std::int64_t steps, const LogEntry& last) {
                  EXPECT_EQ(steps, ++watched);
                  EXPECT_LE(last.step, steps);
                }});
  EXPECT_EQ(report.ending, Ending::finished);
  EXPECT_EQ(report.last.step, 200);
  EXPECT_EQ(watched, 200);
  EXPECT_EQ(report.model, folder / "model.safetensors");
  EXPECT_EQ(load_safetensors(report.model).metadata.at(experiment_metadata_key), to_toml(small()));
  EXPECT_EQ(load_model(report.model).spec->task.bits, 4);
  EXPECT_EQ(load_model(report.checkpoint).model.network().outputs(), 3);

  const std::vector<json> metrics = metrics_of(folder);
  EXPECT_EQ(steps_of(metrics), (std::vector<std::int64_t>{0, 20, 40, 50, 50, 60, 80, 100, 120, 140,
                                                          150, 160, 180, 200}));
  EXPECT_FALSE(metrics[3].contains("knocked_out"));
  EXPECT_EQ(metrics[3]["masked"], 0);
  EXPECT_EQ(metrics[4]["knocked_out"], 5) << "a tenth of 32 and of 16";
  EXPECT_EQ(metrics[4]["masked"], 5);
  EXPECT_GT(metrics[4]["soft_loss"], metrics[3]["soft_loss"]) << "the damage shows";
  EXPECT_EQ(metrics.back()["hard_loss"], report.last.evaluation.hard_loss);
  for (const char* key : {"soft_loss", "hard_accuracy", "bit_accuracy", "learning_rate"}) {
    EXPECT_TRUE(metrics[0].contains(key)) << key;
  }
}

TEST(Run, SavesTheBestLoggedModelOfACircuit) {
  const ScratchFolder scratch;
  // So much noise that steps undo what was learned.
  Experiment experiment = small();
  experiment.knockout.pattern = KnockoutPattern::none;
  experiment.training.learning_rate = 3;
  experiment.training.optimiser.gradient_noise = 0.5;
  experiment.training.log_every = 5;
  const RunReport report = run_experiment(experiment, {.folder = scratch / "run"});
  double lowest = 1e300;
  for (const json& line : metrics_of(scratch / "run")) {
    lowest = std::min(lowest, line["hard_loss"].get<double>());
  }
  ASSERT_LT(lowest, report.last.evaluation.hard_loss) << "the last model is the best";
  ASSERT_TRUE(report.best.has_value());
  EXPECT_EQ(report.best->evaluation.hard_loss, lowest);
  const LoadedModel saved = load_model(report.model);
  const data::BooleanTask task = make_task(*saved.spec);
  const Evaluation evaluation =
      evaluate(saved.model.network(), Cases(task, saved.model.network().dtype()), saved.spec->loss);
  EXPECT_EQ(evaluation.hard_loss, lowest);
}

TEST(Run, StoppedAndResumedGivesTheSameBits) {
  const ScratchFolder scratch;
  run_experiment(small(), {.folder = scratch / "straight"});
  // Twice: at the step of the knockout, and between log points.
  for (const std::int64_t first : {50, 33}) {
    const fs::path folder = scratch / std::to_string(first);
    const RunReport stopped = run_experiment(small(), stopped_after(folder, first));
    EXPECT_EQ(stopped.ending, Ending::stopped);
    EXPECT_EQ(stopped.last.step, first);
    EXPECT_EQ(stopped.model, "");
    EXPECT_FALSE(fs::exists(folder / model_file));
    const RunReport again = run_experiment(small(), stopped_after(folder, 70, true));
    EXPECT_EQ(again.last.step, first + 70);
    EXPECT_GT(again.last.seconds, stopped.last.seconds);
    const RunReport end = run_experiment(small(), {.folder = folder, .resume = true});
    EXPECT_EQ(end.ending, Ending::finished);
    expect_same_model(folder / model_file, scratch / "straight" / model_file);
  }
  // A stopped run may have logged one more line.
  std::vector<json> resumed = metrics_of(scratch / "50");
  EXPECT_EQ(resumed, metrics_of(scratch / "straight"));
}

TEST(Run, ResumingCutsMetricsBackToTheCheckpoint) {
  const ScratchFolder scratch;
  run_experiment(small(), stopped_after(scratch / "run", 50));
  {
    std::ofstream more(scratch / "run" / metrics_file, std::ios::app);
    more << R"({"step":50,"knocked_out":5})"
         << "\n"
         << R"({"step":60})"
         << "\nnot json\n{\"st";
  }
  run_experiment(small(), {.folder = scratch / "run", .resume = true});
  run_experiment(small(), {.folder = scratch / "straight"});
  EXPECT_EQ(metrics_of(scratch / "run"), metrics_of(scratch / "straight"));
}

TEST(Run, StopsWhenSolvedButNotBeforeTheKnockout) {
  const ScratchFolder scratch;
  const std::vector<std::string> stopping = {"training.stop_when_solved=true"};
  const RunReport repaired = run_experiment(small(stopping), {.folder = scratch / "repaired"});
  EXPECT_EQ(repaired.ending, Ending::solved);
  EXPECT_GT(repaired.last.step, 50);
  EXPECT_LT(repaired.last.step, 200);
  const RunReport plain =
      run_experiment(small({"training.stop_when_solved=true", "knockout.pattern=none"}),
                     {.folder = scratch / "plain"});
  EXPECT_EQ(plain.ending, Ending::solved);
  EXPECT_LE(plain.last.step, 50);
  // Resuming a solved run does nothing.
  const RunReport again =
      run_experiment(small(stopping), {.folder = scratch / "repaired", .resume = true});
  EXPECT_EQ(again.last.step, repaired.last.step);
}

TEST(Run, SavesTheLastFiniteStateIfTheLossIsNotFinite) {
  const ScratchFolder scratch;
  const Experiment experiment =
      small({"training.learning_rate=1e38", "network.parametrisation=softmax16", "network.arity=2",
             "training.log_every=1", "knockout.pattern=none"});
  const fs::path checkpoint = scratch / "run" / checkpoint_file;
  try {
    run_experiment(experiment, {.folder = scratch / "run"});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("[train] step ")) << text;
    EXPECT_NE(text.find(": the loss is nan; the state after step "), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with(" was saved to " + checkpoint.string())) << text;
  }
  const Model kept = load_model(checkpoint).model;
  const Evaluation evaluation =
      evaluate(kept.network(), Cases(data::boolean_task(data::TaskKind::add, 4), DType::float32),
               experiment.loss);
  EXPECT_TRUE(std::isfinite(evaluation.soft_loss));
}

/// Limits the size of files of this process to `bytes` during its lifetime, like a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Run, AFullDiskLeavesThePreviousCheckpointUntouched) {
  const ScratchFolder scratch;
  const fs::path folder = scratch / "run";
  const fs::path checkpoint = folder / checkpoint_file;
  run_experiment(small(), stopped_after(folder, 30));
  const std::string before = read_bytes(checkpoint);
  try {
    const SmallDisk disk(8000);
    run_experiment(small(), {.folder = folder, .resume = true});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("[safetensors] cannot write " + checkpoint.string())) << text;
    EXPECT_TRUE(text.ends_with("File too large")) << text;
  }
  EXPECT_EQ(read_bytes(checkpoint), before);
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
  EXPECT_EQ(run_experiment(small(), {.folder = folder, .resume = true}).last.step, 200);

  const fs::path settings = folder / "experiment.toml";
  const SmallDisk disk(100);
  expect_error([&] { run_experiment(small(), {.folder = folder}); },
               "[train] cannot write " + settings.string() + ": File too large");
  EXPECT_TRUE(fs::exists(folder / model_file)) << "a run that cannot start removes nothing";
}

TEST(Run, RejectsResumingAnotherExperiment) {
  const ScratchFolder scratch;
  const fs::path folder = scratch / "run";
  const std::string checkpoint = (folder / checkpoint_file).string();
  run_experiment(small({"training.steps=1"}), {.folder = folder});
  const auto resume = [&](const Experiment& experiment) {
    return
        [&folder, experiment] { run_experiment(experiment, {.folder = folder, .resume = true}); };
  };
  const std::string before = read_bytes(checkpoint);
  expect_error(resume(small({"network.hidden=[32, 20]"})),
               "[resume] " + checkpoint +
                   ": the run was started with network.hidden = [32, 16], received [32, 20]");
  expect_error(resume(small({"seed=2"})),
               "[resume] " + checkpoint + ": the run was started with seed = 1, received 2");
  EXPECT_EQ(read_bytes(checkpoint), before);

  fs::copy_file(folder / model_file, checkpoint, fs::copy_options::overwrite_existing);
  expect_error(resume(small()),
               "[resume] " + checkpoint + ": expected the number of steps taken, received ''");
  save_safetensors(checkpoint, {});
  expect_error(resume(small()),
               "[resume] " + checkpoint + ": not a checkpoint: it has no experiment");
}

TEST(Run, ResumesACheckpointWithOldNamesOfKeys) {
  const ScratchFolder scratch;
  const fs::path folder = scratch / "run";
  run_experiment(small({"training.steps=30", "knockout.pattern=none"}), {.folder = folder});
  const Experiment longer = small({"training.steps=60", "knockout.pattern=none"});
  const RunReport whole = run_experiment(longer, {.folder = scratch / "whole"});
  TensorFile checkpoint = load_safetensors(folder / checkpoint_file);
  std::string& toml = checkpoint.metadata["experiment"];
  for (const auto& [old_name, name] :
       {std::pair<std::string, std::string>{"\nseal = ", "\nsaturate = "},
        {"\nwarm_up = ", "\nwarmup_steps = "},
        {"\nlevels = ", "\nthresholds = "}}) {
    const std::size_t at = toml.find(name);
    ASSERT_NE(at, std::string::npos) << name;
    toml.replace(at, name.size(), old_name);
  }
  save_safetensors(folder / checkpoint_file, checkpoint);
  const RunReport resumed = run_experiment(longer, {.folder = folder, .resume = true});
  EXPECT_EQ(resumed.last.step, whole.last.step);
  EXPECT_EQ(resumed.last.evaluation.soft_loss, whole.last.evaluation.soft_loss);
}

TEST(Run, CanBeExtended) {
  const ScratchFolder scratch;
  const fs::path folder = scratch / "run";
  run_experiment(small({"training.steps=30", "knockout.pattern=none"}), {.folder = folder});
  const RunReport longer = run_experiment(small({"training.steps=60", "knockout.pattern=none"}),
                                          {.folder = folder, .resume = true});
  EXPECT_EQ(longer.last.step, 60);
  EXPECT_EQ(load_checkpoint(longer.checkpoint).experiment.training.steps, 60);
}

TEST(Run, NeedsAWritableFolder) {
  const ScratchFolder scratch;
  write_bytes(scratch / "file", "");
  expect_error(
      [&] { run_experiment(small(), {.folder = scratch / "file"}); },
      "[train] cannot create the folder " + (scratch / "file").string() + ": Not a directory");
}

TEST(Run, LearnsATruthTable) {
  const ScratchFolder scratch;
  write_bytes(
      scratch / "majority.csv",
      "a,b,c,out\n0,0,0,0\n0,0,1,0\n0,1,0,0\n0,1,1,1\n1,0,0,0\n1,0,1,1\n1,1,0,1\n1,1,1,1\n");
  write_bytes(scratch / "majority.toml",
              "[task]\nkind = 'table'\nfile = 'majority.csv'\n"
              "[network]\narity = 3\n[training]\nlearning_rate = 0.2\n");
  const RunReport report =
      run_experiment(read_experiment(scratch / "majority.toml"), {.folder = scratch / "run"});
  EXPECT_EQ(report.ending, Ending::solved);
  EXPECT_EQ(report.last.evaluation.hard_accuracy, 1);
}

TEST(Run, TakenStepByStepGivesTheSameBits) {
  const ScratchFolder scratch;
  run_experiment(small(), {.folder = scratch / "straight"});
  {
    Trainer trainer(small());
    train::Run run(trainer, {.folder = scratch / "steps"});
    EXPECT_EQ(run.last().step, 0);
    while (run.steps() < 77) run.advance();
    EXPECT_EQ(run.last().step, 60);
    expect_error([&] { run.finish(); },
                 "[train] expected a run that has ended, received one with steps left");
    run.stop();
    EXPECT_EQ(run.ending(), Ending::stopped);
    EXPECT_EQ(run.last().step, 77);
    expect_error([&] { run.advance(); },
                 "[train] expected a run with steps left, received one that has ended");
    EXPECT_EQ(run.finish().model, "");
  }
  Trainer trainer(small());
  train::Run run(trainer, {.folder = scratch / "steps", .resume = true});
  EXPECT_EQ(run.steps(), 77);
  while (!run.ending()) run.advance();
  run.stop();
  EXPECT_EQ(run.finish().ending, Ending::finished) << "a run ends once";
  expect_same_model(scratch / "steps" / model_file, scratch / "straight" / model_file);
}

}  // namespace
}  // namespace boolgrad::train
