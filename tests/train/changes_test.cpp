#include "boolgrad/train/experiment/changes.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace boolgrad::train
