#include "boolgrad/train/experiment/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

const std::filesystem::path source = BOOLGRAD_SOURCE_DIR;

Experiment parsed(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_experiment(text, "my.toml", "my", "/folder", overrides);
}

void refuses(const std::string& text, const std::string& message,
             const std::vector<std::string>& overrides = {}) {
  expect_error([&] { parsed(text, overrides); }, "[experiment] " + message);
}

TEST(Experiment, ReadsEverySection) {
  const Experiment e = parsed(R"(
name = "mine"
seed = 7
[task]
kind = "add"
bits = 6
[network]
parametrisation = "softmax16"
dtype = "float64"
hidden = [32, 16]
group_size = [2, 1, 1]
wiring = "local"
wiring_noise = 2
init = "residual"
init_strength = 5
[training]
steps = 10
learning_rate = 1
schedule = "cosine"
loss = "focal"
stop_when_solved = false
[knockout]
pattern = "block"
layer = 2
first = 3
count = 4
at = 0.25
)");
  EXPECT_EQ(e.name, "mine");
  EXPECT_EQ(e.seed, 7);
  EXPECT_EQ(e.task.kind, TaskKind::add);
  EXPECT_EQ(e.task.bits, 6);
  EXPECT_EQ(e.network.parametrisation, Parametrisation::softmax16);
  EXPECT_EQ(e.network.dtype, DType::float64);
  EXPECT_EQ(e.network.hidden, (std::vector<std::int64_t>{32, 16}));
  EXPECT_EQ(e.network.arity, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(e.network.group_size, (std::vector<std::int64_t>{2, 1, 1}));
  EXPECT_EQ(e.network.wiring, WiringKind::local);
  EXPECT_EQ(e.network.wiring_noise, 2);
  EXPECT_EQ(e.network.init, Initialisation::residual);
  EXPECT_EQ(e.training.learning_rate, 1);
  EXPECT_EQ(e.training.schedule, ScheduleKind::cosine);
  EXPECT_EQ(e.loss.kind, LossKind::focal);
  EXPECT_FALSE(e.training.stop_when_solved);
  EXPECT_EQ(e.knockout.pattern, KnockoutPattern::block);
  EXPECT_EQ(e.knockout_step(), 2);
}

TEST(Experiment, HasTheDefaultsOfTheLiterature) {
  const Experiment e = parsed("");
  EXPECT_EQ(e.name, "my");
  EXPECT_EQ(e.training.optimiser.beta1, 0.9);
  EXPECT_EQ(e.training.optimiser.beta2, 0.99);
  EXPECT_EQ(e.training.optimiser.clip_value, 100);
  EXPECT_EQ(e.training.optimiser.weight_decay, 0);
  EXPECT_EQ(e.knockout_step(), -1);
}

TEST(Experiment, NamesTheNearestKeyForAnUnknownOne) {
  refuses("[training]\nlearnin_rate = 1",
          "my.toml: unknown key 'training.learnin_rate', did you mean 'training.learning_rate'?");
  refuses("[trainin]\nsteps = 1",
          "my.toml: unknown key 'trainin.steps', did you mean 'training.steps'?");
  refuses("sed = 1", "my.toml: unknown key 'sed', did you mean 'seed'?");
  refuses("steps = 1", "my.toml: unknown key 'steps', did you mean 'training.steps'?");
  refuses("[task]\nlayers = 1",
          "my.toml: unknown key 'task.layers', did you mean 'knockout.layer'?");
  refuses("colour = 1", "my.toml: unknown key 'colour'");
  refuses("[training]\n[training.extra]", "my.toml: unknown key 'training.extra'");
}

TEST(Experiment, SaysWhatAKeyMustBe) {
  refuses("[training]\nsteps = 'many'",
          "my.toml: expected training.steps to be an integer from 1 to 4294967295, received "
          "'many'");
  refuses("[training]\nsteps = 1.5",
          "my.toml: expected training.steps to be an integer from 1 to 4294967295, received 1.5");
  refuses("[training]\nlearning_rate = nan",
          "my.toml: expected training.learning_rate to be a number above 0, received nan");
  refuses("[training]\nlearning_rate = 0",
          "my.toml: expected training.learning_rate to be a number above 0, received 0");
  refuses("[training]\nbeta1 = 1",
          "my.toml: expected training.beta1 to be a number of at least 0 and below 1, received 1");
  refuses("[training]\nloss = 'mse'",
          "my.toml: expected training.loss to be squares, l4, bce or focal, received 'mse'");
  refuses("[training]\nstop_when_solved = 1",
          "my.toml: expected training.stop_when_solved to be true or false, received 1");
  refuses("[network]\nhidden = 5",
          "my.toml: expected network.hidden to be a list of integers from 1 to 16777216, received "
          "5");
  refuses("[network]\narity = [2, 7]",
          "my.toml: expected network.arity to be an integer or a list of integers from 1 to 6, "
          "received [ 2, 7 ]");
  refuses("[network]\narity = []",
          "my.toml: expected network.arity to be an integer or a list of integers from 1 to 6, "
          "received []");
  refuses("seed = -1", "my.toml: expected seed to be an integer of at least 0, received -1");
  refuses("[task]\nkind = 'divide'",
          "my.toml: expected task.kind to be multiply, add, and, xor, parity, reverse, copy, gray, "
          "popcount, table, life, checkerboard, picture, idx, cifar10, npy, csv, monk1, monk2 or "
          "monk3, "
          "received 'divide'");
  refuses("[seed]\nx = 1",
          "my.toml: expected seed to be an integer of at least 0, received a table");
  refuses("[knockout]\nshare = 2",
          "my.toml: expected knockout.share to be a number from 0 to 1, received 2");
}

TEST(Experiment, ChecksWhatMustFitTogether) {
  refuses("[network]\nhidden = [4]\ngroup_size = [1, 1, 1]",
          "my.toml: expected network.group_size of 1 or 2 values (hidden layers and outputs), "
          "received 3");
  refuses("[network]\nparametrisation = 'softmax16'\narity = 3",
          "my.toml: expected network.arity 2 with softmax16, received another");
  refuses("[network]\nwiring = 'unique'\narity = 3",
          "my.toml: expected network.arity 2 with unique wiring, received another");
  refuses("[task]\nkind = 'table'", "my.toml: expected task.file for a table, received none");
  refuses("[training]\nschedule = 'exponential'\nfinal_share = 0",
          "my.toml: expected training.final_share above 0 for exponential, received 0");
  refuses("[knockout]\nlayer = 2", "my.toml: expected knockout.layer from 0 to 1, received 2");
}

TEST(Experiment, SaysWhereTheTextIsNoToml) {
  try {
    parsed("seed = 1\nname = \n");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("[experiment] my.toml:2: expected TOML, received an error: "))
        << error.what();
  }
}

TEST(Experiment, OverridesComeLast) {
  const Experiment e =
      parsed("seed = 1\n[network]\nhidden = [4]",
             {"seed=2", "training.loss=bce", "network.hidden=[8, 8]", "name=\"a b\"", "seed=3"});
  EXPECT_EQ(e.seed, 3);
  EXPECT_EQ(e.loss.kind, LossKind::bce);
  EXPECT_EQ(e.network.hidden, (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(e.name, "a b");
}

TEST(Experiment, RefusesWrongOverrides) {
  refuses("", "--set: unknown key 'training.step', did you mean 'training.steps'?",
          {"training.step=3"});
  refuses("", "--set: expected key=value, received 'training.steps'", {"training.steps"});
  refuses("", "--set: expected key=value, received '=3'", {"=3"});
  refuses("", "--set: expected training.learning_rate to be a number above 0, received nan",
          {"training.learning_rate=nan"});
  refuses("", "--set: expected seed to be an integer of at least 0, received '''1?steps = 2'''",
          {"seed=1\nsteps = 2"});
}

TEST(Experiment, WritesWhatItReads) {
  const Experiment e = parsed(
      "[training]\nlearning_rate = 0.1\n[network]\nhidden = [3, 4]\n"
      "arity = [2, 3, 4]\n[task]\nkind = 'table'\nfile = 'a \"b\"\\c.csv'\n"
      "[knockout]\npattern = 'list'\ngates = [1, 2]");
  EXPECT_EQ(e.task.file, "/folder/a \"b\"\\c.csv");
  const std::string text = to_toml(e);
  const Experiment again = parse_experiment(text, "x", "", "/elsewhere");
  EXPECT_EQ(to_toml(again), text);
  EXPECT_EQ(again.training.learning_rate, 0.1);
  EXPECT_EQ(again.knockout.gates, (std::vector<std::int64_t>{1, 2}));
}

TEST(Experiment, ReadsFilesUnderTheirName) {
  const ScratchFolder folder;
  write_bytes(folder / "first.toml", "seed = 4\n[task]\nkind = 'table'\nfile = 'rows.csv'\n");
  const Experiment e = read_experiment(folder / "first.toml");
  EXPECT_EQ(e.name, "first");
  EXPECT_EQ(e.task.file, (folder / "rows.csv").string());
  expect_error([&] { read_experiment(folder / "none.toml"); },
               "[experiment] " + (folder / "none.toml").string() +
                   ": expected to read it, received No such file or directory");
}

TEST(Experiment, AllowsWhatDoesNotChangeTheRunOnResuming) {
  const Experiment saved = parsed("[training]\nsteps = 10");
  check_resumable(saved, parsed("[training]\nsteps = 20\nlog_every = 3"), "file");
  expect_error([&] { check_resumable(saved, parsed("[training]\nsteps = 10\nloss = 'bce'"), "f"); },
               "[resume] f: expected training.loss = 'squares' as the run was started with, "
               "received 'bce'");
}

TEST(BuiltInExperiments, AreReadable) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source / "experiments")) {
    if (entry.path().extension() != ".toml") continue;  // a target
    EXPECT_EQ(read_experiment(entry.path()).name, entry.path().stem().string());
    names.push_back(entry.path().stem().string());
  }
  for (const char* wanted : {"multiply",
                             "add",
                             "and",
                             "xor",
                             "parity",
                             "reverse",
                             "copy",
                             "gray",
                             "popcount",
                             "life",
                             "checkerboard",
                             "checkerboard-async",
                             "lizard",
                             "letter-g",
                             "monk1",
                             "monk2",
                             "monk3",
                             "mnist",
                             "mnist-tables",
                             "mnist-48k",
                             "mnist-384k",
                             "fashion-mnist",
                             "fashion-mnist-48k",
                             "fashion-mnist-384k",
                             "table"}) {
    EXPECT_NE(std::ranges::find(names, wanted), names.end()) << wanted;
  }
}

TEST(Experiment, SaysWhatItsHardLossIs) {
  const auto name_of = [](const std::string& text) {
    return hard_loss_name(parse_experiment(text, "test", "test", ""));
  };
  EXPECT_EQ(name_of("[task]\nkind = 'add'"), "wrong bits");
  EXPECT_EQ(name_of("[task]\nkind = 'monk1'"), "errors");
  EXPECT_EQ(name_of("[task]\nkind = 'npy'\n[head]\nkind = 'regression'"), "squared error");
}

TEST(TrainingGuide, NamesEveryKey) {
  const std::string guide = read_bytes(source / "docs/training.md");
  for (const std::string& key : experiment_keys()) {
    EXPECT_NE(guide.find("`" + key + "`"), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace boolgrad
