#include "boolgrad/model/scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/train/learners/initial_model.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

train::Experiment experiment_of(const std::vector<std::string>& overrides) {
  return train::parse_experiment(
      "[task]\nkind = 'checkerboard'\n[automaton]\nheight = 8\nwidth = 12\n"
      "steps = 5\nchannels = 2",
      "test", "test", "", overrides);
}

class PictureTest : public testing::Test {
 protected:
  PictureTest() {
    write_bytes(scratch_ / "arrow.txt", "#..\n##.\n...\n");
    experiment_ =
        experiment_of({"task.kind=picture", "automaton.start=seed", "automaton.height=3",
                       "automaton.width=3", "task.file=" + (scratch_ / "arrow.txt").string()});
  }
  ScratchFolder scratch_;
  train::Experiment experiment_;
};

TEST_F(PictureTest, IsCentredOnTheSeedCell) {
  for (const auto& [height, width] : {std::pair{3, 3}, {6, 8}, {7, 9}, {12, 3}}) {
    const Tensor target = target_for(experiment_, height, width);
    ASSERT_EQ(target.shape(), (Shape{1, height, width}));
    const Tensor seed = starts_for(experiment_, life_rule(), 1, height, width, 1);
    std::int64_t on = 0;
    for (std::int64_t i = 0; i < target.size(); ++i) on += target.at(i) == 1 ? 1 : 0;
    EXPECT_EQ(on, 3);
    // The picture's middle is its second '#' in the second row.
    const std::int64_t middle = height / 2 * width + width / 2;
    EXPECT_EQ(seed.at(middle), 1);
    EXPECT_EQ(target.at(middle), 1) << height << "x" << width;
    EXPECT_EQ(target.at(middle - 1), 1);
    EXPECT_EQ(target.at(middle - width - 1), 1);
  }
}

TEST_F(PictureTest, NeedsALargeEnoughGrid) {
  expect_error([&] { target_for(experiment_, 3, 2); },
               "[target] expected a grid of at least 3x3 cells for the picture, received 3x2");
}

TEST(Target, ContinuesACheckerboard) {
  const Tensor target = target_for(experiment_of({"task.square=3"}), 20, 31);
  for (std::int64_t y = 0; y < 20; ++y) {
    for (std::int64_t x = 0; x < 31; ++x) {
      ASSERT_EQ(target.at(y * 31 + x), (y / 3 + x / 3) % 2) << y << ", " << x;
    }
  }
}

TEST(Target, LifeHasNone) {
  const train::Experiment life = experiment_of({"task.kind=life", "automaton.channels=1"});
  expect_error([&] { target_for(life, 5, 5); },
               "[target] expected an automaton with a target state, received life");
}

TEST(Starts, AreFreshOnEveryGrid) {
  const train::Experiment experiment = experiment_of({});
  const automata::Rule rule = train::make_rule(experiment);
  const Tensor starts = starts_for(experiment, rule, 3, 6, 7, 1);
  EXPECT_EQ(starts.shape(), (Shape{2, 3, 6, 7}));
  EXPECT_TRUE(same_bits(starts, starts_for(experiment, rule, 3, 6, 7, 1)));
  EXPECT_FALSE(same_bits(starts, starts_for(experiment, rule, 3, 6, 7, 2)));
  EXPECT_NE(fresh_seed(experiment), static_cast<std::uint64_t>(experiment.seed));
}

TEST(Scenarios, GoBeyondTheTrainingTask) {
  const std::vector<Scenario> all = scenarios_of(experiment_of({}));
  std::vector<std::string> lines;
  for (const Scenario& s : all) {
    lines.push_back(fmt::format("{}: {}x{}, {} steps, fire rate {}, damage {}, reset {}", s.name,
                                s.height, s.width, s.steps, s.options.fire_rate,
                                s.options.damage.size(), s.options.reset));
  }
  const std::vector<std::string> expected = {
      "fresh starts: 8x12, 5 steps, fire rate 1, damage 0, reset 0",
      "twice as large: 16x24, 10 steps, fire rate 1, damage 0, reset 0",
      "four times as large: 32x48, 20 steps, fire rate 1, damage 0, reset 0",
      "fire rate 0.6: 8x12, 9 steps, fire rate 0.6, damage 0, reset 0",
      "10x10 stays dead: 16x24, 10 steps, fire rate 1, damage 1, reset 0",
      "10x10 dead, then lifted: 16x24, 20 steps, fire rate 1, damage 1, reset 0",
      "10x10 reset every step: 16x24, 10 steps, fire rate 1, damage 0, reset 10"};
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(all[5].options.damage[0].last, 10) << "lifted half-way";
}

/// No cell fires, so that the random start itself is evaluated.
TEST(Scenarios, DoNotCountCellsHeldAtZero) {
  const train::Experiment experiment = experiment_of({});
  const automata::Rule rule = train::make_rule(experiment);
  Scenario frozen{.name = "frozen", .height = 8, .width = 12, .steps = 2};
  frozen.options.fire_rate = 0;
  const automata::GridErrors whole = play(experiment, rule, frozen, 4);
  EXPECT_EQ(whole.all_grids, 4);
  EXPECT_EQ(whole.grids, 4);
  EXPECT_EQ(whole.all_bits, 4 * 8 * 12);
  EXPECT_NEAR(whole.bit_accuracy(), 0.5, 0.12);
  EXPECT_EQ(whole.accuracy(), 0);
  frozen.options.damage = {{{0, 0, 8, 10}, 0, 2}};
  EXPECT_EQ(play(experiment, rule, frozen, 4).all_bits, 4 * 8 * 2);
}

TEST(Life, IsDistinguishedFromOtherRules) {
  EXPECT_EQ(differences_from_life(life_rule(), 20, 70, 30, 1), 0);
  const train::Experiment life = experiment_of({"task.kind=life", "automaton.channels=1"});
  EXPECT_GT(differences_from_life(train::make_rule(life), 20, 70, 5, 1), 0);
}

}  // namespace
}  // namespace boolgrad
