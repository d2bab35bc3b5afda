#include "boolgrad/train/experiment/changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "boolgrad/core/error.h"
#include "boolgrad/train/experiment/memory_estimate.h"
#include "boolgrad/train/learners/learner.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

Experiment changed(const std::string& text, const ExperimentChanges& changes) {
  return changed_experiment(text, "test", "test", "", changes);
}

TEST(ExperimentChanges, OfACircuit) {
  const std::string text = "[task]\nkind = 'add'\nbits = 4\n";
  const Experiment result = changed(
      text,
      {.seed = 7, .steps = 20, .knockout = 0.25, .overrides = {"network.hidden=[8]", "seed=3"}});
  EXPECT_EQ(result.seed, 7) << "named changes come last";
  EXPECT_EQ(result.training.steps, 20);
  EXPECT_EQ(result.network.hidden, std::vector<std::int64_t>{8});
  EXPECT_EQ(result.knockout.share, 0.25);
  EXPECT_EQ(result.knockout.pattern, KnockoutPattern::random);
  // 16 cases in batches of 5 are 4 steps.
  EXPECT_EQ(changed(text, {.epochs = 3, .overrides = {"training.batch=5"}}).training.steps, 12);
  EXPECT_EQ(to_toml(changed(text, {})), to_toml(parse_experiment(text, "test", "test", "")));
}

TEST(ExperimentChanges, OfAClassifier) {
  const std::string text = "[task]\nkind = 'csv'\n[training]\nepochs = 4\n";
  const ExperimentChanges changes{.epochs = 3, .data = "a folder/7", .target = "12"};
  const Experiment result = changed(text, changes);
  EXPECT_EQ(result.training.epochs, 3);
  EXPECT_EQ(result.data.path, std::filesystem::absolute("a folder/7"));
  EXPECT_EQ(result.data.target, "12") << "a string";
  const Experiment of_steps = changed(text, {.steps = 20});
  EXPECT_EQ(of_steps.training.epochs, 0);
  EXPECT_EQ(of_steps.training.steps, 20);
}

TEST(ExperimentChanges, OfAnAutomaton) {
  const ScratchFolder scratch;
  const std::filesystem::path bitmap = scratch / "a.txt";
  write_bytes(bitmap, "#.#\n.#.\n");
  const std::string text = "[task]\nkind = 'checkerboard'\n";
  const Experiment result = changed(
      text, {.target = bitmap.string(), .memory = "200MB", .overrides = {"automaton.width=9"}});
  EXPECT_EQ(result.task.kind, data::TaskKind::picture);
  EXPECT_EQ(result.automaton.height, 2);
  EXPECT_EQ(result.automaton.width, 9) << "the grid of a bitmap can be overridden";
  EXPECT_EQ(result.rollout.memory, "200MB");
}

TEST(ExperimentChanges, FromAFile) {
  const ScratchFolder scratch;
  write_bytes(scratch / "mine.toml", "[task]\nkind = 'add'\n[knockout]\nshare = 0.2\n");
  std::vector<std::string> notices;
  const Experiment result = changed_experiment(scratch / "mine.toml", {.seed = 5}, &notices);
  EXPECT_EQ(result.name, "mine");
  EXPECT_EQ(result.seed, 5);
  EXPECT_FALSE(notices.empty());
}

TEST(ExperimentChanges, ThatContradict) {
  const std::string text = "[task]\nkind = 'add'\n";
  expect_error([&] { changed(text, {.steps = 1, .epochs = 1}); },
               "[train] expected a number of steps or of epochs, received both");
  expect_error([&] { changed(text, {.epochs = 0}); },
               "[train] expected at least 1 epoch, received 0");
}

TEST(ExperimentChanges, WithMoreStepsThanARunCanHave) {
  const std::string circuit = "[task]\nkind = 'add'\nbits = 4\n";
  EXPECT_EQ(changed(circuit, {.epochs = 4294967295}).training.steps, 4294967295);
  expect_error([&] { changed(circuit, {.epochs = 5000000000}); },
               "[train] expected at most 4294967295 epochs, of 1 steps each, received 5000000000");
  expect_error(
      [&] { changed(circuit, {.epochs = 9223372036854775807, .overrides = {"training.batch=4"}}); },
      "[train] expected at most 1073741823 epochs, of 4 steps each, received 9223372036854775807");
  const Experiment monk =
      changed("[task]\nkind = 'monk1'\n[training]\nbatch = 2\n", {.epochs = 4294967295});
  expect_error([&] { with_epochs_in_steps(monk); },
               "[train] expected at most 69273666 epochs, of 62 steps each, received 4294967295");
}

TEST(ExperimentChanges, ChooseTheHeadOfATable) {
  const ScratchFolder scratch;
  std::string text = "x,price,kind\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{}.5,{}\n", i, i * 7 % 30, i % 20);
  write_bytes(scratch / "flats.csv", text);
  write_bytes(scratch / "mine.toml", "[task]\nkind = 'csv'\n[head]\nkind = 'auto'\n");
  const auto head = [&](const std::string& target, std::vector<std::string>& notices) {
    return changed_experiment(scratch / "mine.toml",
                              {.data = (scratch / "flats.csv").string(), .target = target},
                              &notices)
        .head;
  };
  std::vector<std::string> notices;
  EXPECT_EQ(head("price", notices).kind, HeadKind::regression);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0],
            "column 'price' has 30 different numbers: predicting a number (regression); --set "
            "head.kind=classes predicts classes");
  notices.clear();
  EXPECT_EQ(head("kind", notices).kind, HeadKind::classes);
  EXPECT_FALSE(head("kind", notices).is_automatic);
  EXPECT_TRUE(notices.empty());
  const Experiment undecided = changed_experiment(scratch / "mine.toml", {});
  EXPECT_TRUE(undecided.head.is_automatic) << "there is no file yet";
  EXPECT_NE(to_toml(undecided).find("kind = 'auto'"), std::string::npos);
}

TEST(Memory, ThatCannotFitIsRefusedBeforeItIsAllocated) {
  const Experiment large = parse_experiment(
      "[task]\nkind = 'add'\nbits = 4\n[network]\nhidden = [16777216]\narity = 6\n"
      "[search]\nmembers = 4096\n",
      "test", "test", "");
  EXPECT_GT(least_memory(large), std::size_t{1} << 45);
  try {
    const Trainer trainer(large);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("[train] out of memory: at least 72 TB needed for 4096 members, "))
        << error.what();
  }
  EXPECT_LT(least_memory(parse_experiment("[task]\nkind = 'add'\n[network]\nhidden = [8]\n", "test",
                                          "test", "")),
            2000U);
}

}  // namespace
}  // namespace boolgrad::train
