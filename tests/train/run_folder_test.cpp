#include "boolgrad/train/run/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/core/folder_lock.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

Experiment small(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(R"(
name = "small"
[task]
kind = "xor"
bits = 2
[network]
hidden = [8]
[training]
steps = 20
log_every = 10
checkpoint_every = 10
stop_when_solved = false
)",
                          "small", "small", "", overrides);
}

TEST(RunFolder, IsNamedAfterTheExperiment) {
  EXPECT_EQ(default_run_folder(small({"seed=7"})), fs::path("runs/small-7"));
  EXPECT_EQ(default_run_folder(small({"name='../../x'"})), fs::path("runs/-.-..-x-1"));
}

TEST(RunFolder, OfAnotherRunIsNotTaken) {
  const ScratchFolder scratch;
  const fs::path folder = scratch / "run";
  EXPECT_EQ(other_run_in(folder, small()), std::nullopt);
  run_experiment(small(), {.folder = folder});
  const std::string model = read_bytes(folder / model_file);
  EXPECT_EQ(other_run_in(folder, small()), std::nullopt);
  const Experiment other = small({"training.learning_rate=0.5"});
  EXPECT_EQ(other_run_in(folder, other), "training.learning_rate = 0.05");
  expect_error([&] { run_experiment(other, {.folder = folder}); },
               "[train] " + folder.string() +
                   " has a run with other settings (training.learning_rate = 0.05): choose another "
                   "folder or overwrite it");
  EXPECT_EQ(read_bytes(folder / model_file), model);

  EXPECT_EQ(free_run_folder(folder, small()), folder);
  EXPECT_EQ(free_run_folder(folder, other), scratch / "run-2");
  run_experiment(other, {.folder = scratch / "run-2"});
  EXPECT_EQ(free_run_folder(folder, other), scratch / "run-2");
  EXPECT_EQ(free_run_folder(folder, small({"seed=9"})), scratch / "run-3");
  EXPECT_EQ(resumable_run_folder(folder, small({"training.steps=30"})), folder);
  EXPECT_EQ(resumable_run_folder(folder, other), scratch / "run-2");
  EXPECT_EQ(resumable_run_folder(folder, small({"seed=9"})), folder) << "none";

  run_experiment(other, {.folder = folder, .overwrite = true});
  EXPECT_NE(read_bytes(folder / model_file), model);
}

TEST(RunFolder, OfAnOlderVersionIsDescribedByItsModel) {
  const ScratchFolder scratch;
  run_experiment(small(), {.folder = scratch.path()});
  fs::remove(scratch / settings_file);
  EXPECT_EQ(other_run_in(scratch.path(), small()), std::nullopt);
  EXPECT_TRUE(other_run_in(scratch.path(), small({"seed=2"})).has_value());
  fs::remove(scratch / checkpoint_file);
  EXPECT_EQ(other_run_in(scratch.path(), small({"seed=2"})), "seed = 1");
  write_bytes(scratch / model_file, "of the future");
  EXPECT_EQ(other_run_in(scratch.path(), small()), "");
}

TEST(RunFolder, HasNothingOfAnEarlierRun) {
  const ScratchFolder scratch;
  run_experiment(small(), {.folder = scratch.path()});
  write_bytes(scratch / "model.safetensors.1.0.tmp", "left by a killed process");
  claim_run_folder(scratch.path(), small({"seed=2"}), true);
  for (const char* name :
       {model_file, checkpoint_file, metrics_file, "model.safetensors.1.0.tmp"}) {
    EXPECT_FALSE(fs::exists(scratch / name)) << name;
  }
  EXPECT_EQ(read_bytes(scratch / settings_file), to_toml(small({"seed=2"})));
}

TEST(RunFolder, IsLockedUntilTheRunIsFinished) {
  const ScratchFolder scratch;
  Trainer trainer(small());
  train::Run run(trainer, {.folder = scratch.path()});
  EXPECT_THROW(run_experiment(small(), {.folder = scratch.path()}), Error);
  while (!run.ending()) run.advance();
  run.finish();
  EXPECT_TRUE(FolderLock("test", scratch.path()).is_held());
}

TEST(RunFolder, KeepsSettingsOfALongerRun) {
  const ScratchFolder scratch;
  run_experiment(small(), {.folder = scratch.path()});
  run_experiment(small({"training.steps=30"}), {.folder = scratch.path(), .resume = true});
  EXPECT_EQ(read_bytes(scratch / settings_file), to_toml(small({"training.steps=30"})));
}

TEST(Run, EndsWhenParametersAreNotFinite) {
  const ScratchFolder scratch;
  expect_error(
      [&] { run_experiment(small({"training.learning_rate=1e308"}), {.folder = scratch.path()}); },
      "[train] step 10: tensor 'layer.0.logits' is not finite; the state after step 0 was saved "
      "to " +
          (scratch / checkpoint_file).string());
  EXPECT_FALSE(fs::exists(scratch / model_file));
  EXPECT_EQ(first_not_finite(load_checkpoint(scratch / checkpoint_file).state), std::nullopt);
}

TEST(Checkpoint, IsRefusedWithTheTensorThatIsDamaged) {
  const ScratchFolder scratch;
  run_experiment(small(), {.folder = scratch.path()});
  const fs::path path = scratch / checkpoint_file;
  const TensorFile whole = load_safetensors(path);
  const auto refused = [&](const std::string& tensor, float value, const std::string& fault) {
    TensorFile damaged = load_safetensors(path);
    damaged.tensors.at(tensor).mutable_values<float>().front() = value;
    const fs::path file = scratch / "damaged.safetensors";
    save_safetensors(file, damaged);
    expect_error([&] { load_checkpoint(file); }, "[resume] " + file.string() + ": " + fault);
  };
  int moments = 0;
  for (const auto& entry : whole.tensors) {
    const std::string& name = entry.first;
    if (!name.starts_with("adamw.")) continue;
    ++moments;
    for (const float value :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      refused(name, value, "tensor '" + name + "' has values that are not finite");
    }
  }
  EXPECT_GE(moments, 4) << "two per layer";
  refused("layer.0.logits", -std::numeric_limits<float>::infinity(),
          "tensor 'layer.0.logits' has values that are not finite");
  refused("layer.0.mask", 0.25F,
          "expected a mask of zeros and ones in tensor 'layer.0.mask', received 0.25");
}

}  // namespace
}  // namespace boolgrad::train
