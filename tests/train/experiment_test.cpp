#include "boolgrad/train/experiment/experiment.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "boolgrad/model/keys.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
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
  EXPECT_EQ(e.task.kind, data::TaskKind::add);
  EXPECT_EQ(e.task.bits, 6);
  EXPECT_EQ(e.network.parametrisation, Parametrisation::softmax16);
  EXPECT_EQ(e.network.dtype, DType::float64);
  EXPECT_EQ(e.network.hidden, (std::vector<std::int64_t>{32, 16}));
  EXPECT_EQ(e.network.arity, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(e.network.group_size, (std::vector<std::int64_t>{2, 1, 1}));
  EXPECT_EQ(e.network.wiring, WiringKind::local);
  EXPECT_EQ(e.network.wiring_noise, 2);
  EXPECT_EQ(e.network.init, logic::Initialisation::residual);
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

TEST(Experiment, SuggestsAKeyForAnUnknownOne) {
  refuses("[training]\nlearnin_rate = 1",
          "my.toml: unknown key 'training.learnin_rate', did you mean 'training.learning_rate'?");
  refuses("[trainin]\nsteps = 1",
          "my.toml: unknown key 'trainin.steps', did you mean 'training.steps'?");
  refuses("sed = 1", "my.toml: unknown key 'sed', did you mean 'seed'?");
  refuses("steps = 1", "my.toml: unknown key 'steps', did you mean 'training.steps'?");
  refuses("[task]\nlayers = 1",
          "my.toml: unknown key 'task.layers', did you mean 'knockout.layer'?");
  refuses("palette = 1", "my.toml: unknown key 'palette'");
  refuses("[training]\n[training.extra]", "my.toml: unknown key 'training.extra'");
}

TEST(Experiment, ErrorsNameTheExpectedValue) {
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
  refuses("[head]\nkind = 'digits'",
          "my.toml: expected head.kind to be auto, classes, binary, bits or regression, received "
          "'digits'");
  refuses("[head]\nweights = 'twos'",
          "my.toml: expected head.weights to be ones or powers, received 'twos'");
  refuses("[head]\nmax_exponent = 7",
          "my.toml: expected head.max_exponent to be an integer from 1 to 6, received 7");
  refuses("[head]\ntemperature_target = -1",
          "my.toml: expected head.temperature_target to be a number of at least 0, received -1");
  refuses("[network]\narity = []",
          "my.toml: expected network.arity to be an integer or a list of integers from 1 to 6, "
          "received []");
  refuses("seed = -1", "my.toml: expected seed to be an integer of at least 0, received -1");
  refuses(
      "[task]\nkind = 'divide'",
      "my.toml: expected task.kind to be multiply, add, and, xor, parity, reverse, copy, gray, "
      "popcount, table, life, rule, checkerboard, picture, idx, cifar10, npy, csv, monk1, monk2 or "
      "monk3, "
      "received 'divide'");
  refuses("[seed]\nx = 1",
          "my.toml: expected seed to be an integer of at least 0, received a table");
  refuses("[knockout]\nshare = 2",
          "my.toml: expected knockout.share to be a number from 0 to 1, received 2");
}

TEST(Experiment, ChecksCombinations) {
  refuses("[network]\nhidden = [4]\ngroup_size = [1, 1, 1]",
          "my.toml: expected network.group_size with 1 or 2 values (hidden layers and output "
          "layer), received 3");
  refuses("[network]\nparametrisation = 'softmax16'\narity = 3",
          "my.toml: expected network.arity = 2 with softmax16, received 3");
  refuses("[network]\nwiring = 'unique'\narity = 3",
          "my.toml: expected network.arity = 2 with unique wiring, received 3");
  const std::string convolutions = "[task]\nkind = 'idx'\n[convolution]\nkernels = [4, 8]\n";
  refuses("[convolution]\nkernels = [4]",
          "my.toml: convolution.kernels is for classifiers of images only");
  refuses(
      convolutions + "window = [3, 3, 3]",
      "my.toml: expected convolution.window with 1 or 2 values, one per convolution, received 3");
  refuses(convolutions + "candidates = [2, 3, 4]",
          "my.toml: expected convolution.candidates with 1 or 2 values, one per convolution, "
          "received 3");
  refuses(convolutions + "depth = 5",
          "my.toml: expected convolution.depth to be an integer or a list of integers from 1 to 4, "
          "received 5");
  refuses(convolutions + "arity = 3\n[network]\nparametrisation = 'softmax16'",
          "my.toml: expected convolution.arity = 2 with softmax16, received 3");
  refuses(convolutions + "[network]\nwiring = 'window'",
          "my.toml: expected another network.wiring than window with convolutions");
  refuses(convolutions + "[binarise]\nlearn = true",
          "my.toml: expected binarise.learn = false with convolutions, whose pixels share "
          "thresholds");
  refuses("[task]\nkind = 'idx'\n[binarise]\nlearn = true\nshared = true",
          "my.toml: expected binarise.learn = false with binarise.shared, received true");
  refuses(convolutions + "[knockout]\npattern = 'layer'\nlayer = 10",
          "my.toml: expected knockout.layer from 0 to 9, received 10");
  refuses("[task]\nkind = 'table'", "my.toml: expected task.file for a table, received none");
  refuses("[training]\nschedule = 'exponential'\nfinal_learning_rate_factor = 0",
          "my.toml: expected training.final_learning_rate_factor above 0 for exponential, received "
          "0");
  refuses("[knockout]\nlayer = 2", "my.toml: expected knockout.layer from 0 to 1, received 2");
}

TEST(Experiment, TomlErrorsNameTheLine) {
  try {
    parsed("seed = 1\nname = \n");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("[experiment] my.toml:2: not valid TOML: "))
        << error.what();
  }
}

TEST(Experiment, OverridesTakePrecedence) {
  const Experiment e =
      parsed("seed = 1\n[network]\nhidden = [4]",
             {"seed=2", "training.loss=bce", "network.hidden=[8, 8]", "name=\"a b\"", "seed=3"});
  EXPECT_EQ(e.seed, 3);
  EXPECT_EQ(e.loss.kind, LossKind::bce);
  EXPECT_EQ(e.network.hidden, (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(e.name, "a b");
}

TEST(Experiment, RejectsInvalidOverrides) {
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

TEST(Experiment, IsNamedAfterItsFile) {
  const ScratchFolder folder;
  write_bytes(folder / "first.toml", "seed = 4\n[task]\nkind = 'table'\nfile = 'rows.csv'\n");
  const Experiment e = read_experiment(folder / "first.toml");
  EXPECT_EQ(e.name, "first");
  EXPECT_EQ(e.task.file, (folder / "rows.csv").string());
  expect_error([&] { read_experiment(folder / "none.toml"); }, "[experiment] cannot read " +
                                                                   (folder / "none.toml").string() +
                                                                   ": No such file or directory");
}

TEST(Experiment, ResumingAllowsChangesThatDoNotAffectTheRun) {
  const Experiment saved = parsed("[training]\nsteps = 10");
  check_resumable(saved, parsed("[training]\nsteps = 20\nlog_every = 3"), "file");
  expect_error([&] { check_resumable(saved, parsed("[training]\nsteps = 10\nloss = 'bce'"), "f"); },
               "[resume] f: the run was started with training.loss = 'squares', received 'bce'");
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
                             "lizard-torus",
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

TEST(Experiment, NamesItsHardLoss) {
  const auto name_of = [](const std::string& text) {
    return hard_loss_name(parse_experiment(text, "test", "test", ""));
  };
  EXPECT_EQ(name_of("[task]\nkind = 'add'"), "bit errors");
  EXPECT_EQ(name_of("[task]\nkind = 'monk1'"), "errors");
  EXPECT_EQ(name_of("[task]\nkind = 'npy'\n[head]\nkind = 'regression'"), "squared error");
}

TEST(KeyReference, ListsEveryKeyOnceAndNoOther) {
  const std::string page = read_bytes(source / "docs/reference/experiment-keys.md");
  std::multiset<std::string> documented;
  const std::regex row("(?:^|\n)\\| `([a-z0-9_.]+)` \\|");
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it) {
    documented.insert((*it)[1].str());
  }
  const std::vector<std::string> keys = experiment_keys();
  EXPECT_EQ(documented, std::multiset<std::string>(keys.begin(), keys.end()));
}

// ---------------------------------------------------------------------------------------------
// Renamed keys

/// A valid value of a key that differs from its default.
std::string other_value(const std::string& key) {
  const std::string toml = "\n" + to_toml(Experiment{});
  const std::string name = key.substr(key.find('.') + 1);
  const std::string section = "\n[" + key.substr(0, key.find('.')) + "]\n";
  const std::size_t at = toml.find("\n" + name + " = ", toml.find(section));
  const std::size_t begin = toml.find("= ", at) + 2;
  const std::string value = toml.substr(begin, toml.find('\n', begin) - begin);
  if (value == "false") return "true";
  // Shares that are 0 by default are written without a point.
  const bool is_share = key.ends_with("_share") || value.find('.') != std::string::npos;
  return is_share ? "0.125" : std::to_string(std::stoll(value) + 1);
}

std::string in_section(const std::string& key, const std::string& value) {
  const std::size_t dot = key.find('.');
  return fmt::format("[{}]\n{} = {}\n", key.substr(0, dot), key.substr(dot + 1), value);
}

/// The section of a kind of experiment that uses the key.
std::string task_for(const std::string& key) {
  for (const char* task :
       {"[task]\nkind = 'add'\n", "[task]\nkind = 'checkerboard'\n", "[task]\nkind = 'monk1'\n"}) {
    const std::string why = why_no_effect(parsed(task), key);
    if (why.find(" has no effect on ") == std::string::npos) return task;
  }
  ADD_FAILURE() << key << " is not used";
  return "";
}

TEST(RenamedKeys, OldNamesReadAsTheNewOnes) {
  const std::vector<std::string> keys = experiment_keys();
  const std::string page = read_bytes(source / "docs/reference/experiment-keys.md");
  for (const auto& [old_key, key] : renamed_keys()) {
    const std::string old_name(old_key);
    const std::string name(key);
    SCOPED_TRACE(old_name);
    EXPECT_NE(std::ranges::find(keys, name), keys.end());
    EXPECT_EQ(std::ranges::find(keys, old_name), keys.end());
    const std::string task = task_for(name);
    const std::string value = other_value(name);
    const std::string old_setting = fmt::format("{}={}", old_name, value);
    const std::string new_setting = fmt::format("{}={}", name, value);
    const std::string notice = fmt::format("{} is now {}", old_name, name);
    const std::string plain = to_toml(parsed(task));
    const std::string with_old = fmt::format("{}{}", task, in_section(old_name, value));
    const std::string with_new = fmt::format("{}{}", task, in_section(name, value));
    const std::string wanted = to_toml(parsed(with_new));
    EXPECT_NE(wanted, plain);
    EXPECT_EQ(to_toml(parsed(with_old)), wanted);
    EXPECT_EQ(to_toml(parsed(task, {old_setting})), wanted);
    EXPECT_EQ(to_toml(with_overrides(parsed(task), std::vector{old_setting}, "--vary")), wanted);
    EXPECT_EQ(rename_notices(std::vector{old_setting}), std::vector{notice});
    EXPECT_TRUE(rename_notices(std::vector{new_setting}).empty());
    EXPECT_NE(page.find(fmt::format("\n- `{}` is now `{}`\n", old_name, name)), std::string::npos);
  }
}

TEST(RenamedKeys, GiveANoticeForWhatTheUserWrote) {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch / "my.toml";
  write_bytes(file, "[task]\nkind = 'checkerboard'\n[automaton]\nprobes = 5\n");
  std::vector<std::string> notices;
  const std::vector<std::string> overrides = {"search.refit=2", "search.refit=3"};
  const Experiment experiment = read_experiment(file, overrides, &notices);
  EXPECT_EQ(experiment.automaton.evaluation_starts, 5);
  EXPECT_EQ(experiment.search.local_search, 3);
  EXPECT_EQ(notices,
            (std::vector<std::string>{"automaton.probes is now automaton.evaluation_starts",
                                      "search.refit is now search.local_search"}));
  // An override may use the other name than the file.
  const std::vector<std::string> other = {"automaton.evaluation_starts=7"};
  EXPECT_EQ(read_experiment(file, other).automaton.evaluation_starts, 7);
}

TEST(RenamedKeys, CannotBeGivenUnderBothNames) {
  const std::string message =
      "expected automaton.evaluation_starts or its old name automaton.probes, received both";
  const std::string both =
      "[task]\nkind = 'life'\n[automaton]\nprobes = 5\nevaluation_starts = 6\n";
  expect_error([&] { parsed(both); }, "[experiment] my.toml: " + message);
  expect_error([&] { parse_model_spec(both, "model", "test"); }, "[experiment] model: " + message);
  expect_error(
      [] {
        parsed("[task]\nkind = 'checkerboard'",
               {"automaton.evaluation_starts=5", "automaton.probes=6"});
      },
      "[experiment] --set: " + message);
}

TEST(RenamedKeys, AreReadFromModels) {
  const ModelSpec spec =
      parse_model_spec("[task]\nkind = 'life'\n[automaton]\nprobes = 5\n", "model", "test");
  EXPECT_EQ(spec.automaton.evaluation_starts, 5);
  expect_error(
      [] { parse_model_spec("[automaton]\nprobes = 0\n", "model", "test"); },
      "[experiment] model: expected automaton.evaluation_starts to be an integer from 1 to "
      "16777216, received 0");
}

}  // namespace
}  // namespace boolgrad::train
