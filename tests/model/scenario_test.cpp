#include "boolgrad/model/scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/model/tasks.h"
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

TEST_F(PictureTest, IsAlsoRunForFourTimesTheSteps) {
  const std::vector<Scenario> all = scenarios_of(experiment_);
  EXPECT_EQ(all[0].name, "from the seed");
  EXPECT_EQ(all[0].steps, 5);
  EXPECT_EQ(all[1].name, "four times the steps");
  EXPECT_EQ(all[1].steps, 20);
  EXPECT_EQ(all[1].height, 3);
  // The grid is too small for the third square.
  ASSERT_EQ(all.size(), 10U);
  EXPECT_EQ(all[9].name, "2x2 lost when grown");
  EXPECT_EQ(all[9].steps, 20);
  EXPECT_EQ(all[9].options.damage[0].first, 5);
  EXPECT_EQ(all[9].options.damage[0].last, 5);
}

/// In Life, a single cell dies in the first step.
TEST_F(PictureTest, StaysAsLongAsItIsRight) {
  const auto stay = [&](const std::string& rows, std::int64_t steps) {
    write_bytes(scratch_ / "arrow.txt", rows);
    train::Experiment one = experiment_;
    one.automaton.steps = steps;
    const Stay found = stay_of(one, life_rule());
    return std::pair{found.right, found.steps};
  };
  EXPECT_EQ(stay("...\n...\n...\n", 2), (std::pair<std::int64_t, std::int64_t>{30, 30}));
  EXPECT_EQ(stay("...\n.#.\n...\n", 2), (std::pair<std::int64_t, std::int64_t>{0, 0}));
}

/// Life that is known in part only: each step is compared in the cells that are known.
TEST(Rules, AreComparedWhereTheyAreKnown) {
  const data::CellRule life = data::conways_rule();
  std::vector<std::optional<std::uint8_t>> table;
  for (std::int64_t number = 0; number < 512; ++number) {
    data::Neighbourhood cells{};
    for (std::size_t i = 0; i < 9; ++i) cells[i] = static_cast<std::uint8_t>(number >> i & 1);
    table.push_back(life.next(cells));
    if (number % 3 == 0) table.back().reset();
  }
  const data::CellRule part("part", 2, table);
  EXPECT_EQ(differences_from_rule(life_rule(), part, 20, 70, 30, 1), 0);
  table[1] = std::uint8_t{1};  // the upper left neighbour alone gives birth
  const data::CellRule wrong("wrong", 2, table);
  EXPECT_GT(differences_from_rule(life_rule(), wrong, 20, 70, 30, 1), 0);
}

/// A rule of three states that is written by hand: a cell dies in two steps, and none is born.
TEST(Rules, StartFromAllStates) {
  logic::Network perceive(9, Parametrisation::sigmoid, DType::float32);
  add_gates(perceive, {{{4}, [](unsigned bits) { return bits != 0; }}});
  logic::Network update(4, Parametrisation::sigmoid, DType::float32);
  add_gates(update, {{{0, 1}, [](unsigned) { return false; }},
                     {{0, 1}, [](unsigned bits) { return (bits & 1) != 0; }}});
  const automata::Rule fading(Border::periodic, 1, std::move(perceive), std::move(update));
  const train::Experiment experiment = train::parse_experiment(
      "[task]\nkind = 'rule'\nrule = 'B/S/3'\n[automaton]\nchannels = 2\nsteps = 1", "test", "test",
      "");
  const Tensor starts = starts_for(experiment, fading, 2, 40, 50, 7);
  ASSERT_EQ(starts.shape(), (Shape{2, 2, 40, 50}));
  std::array<int, 3> counts{};
  const Tensor states = data::states_of_bits(starts);
  for (std::int64_t i = 0; i < states.size(); ++i) {
    ++counts.at(static_cast<std::size_t>(states.at(i)));
  }
  for (const int count : counts) EXPECT_NEAR(count, 4000 / 3.0, 150);
  EXPECT_EQ(differences_from_rule(fading, cell_rule_of(experiment), 30, 30, 3, 1), 0);
  EXPECT_GT(differences_from_rule(fading, data::parse_cell_rule("B2/S/3"), 30, 30, 3, 1), 0);
}

TEST(Life, IsDistinguishedFromOtherRules) {
  EXPECT_EQ(differences_from_rule(life_rule(), data::conways_rule(), 20, 70, 30, 1), 0);
  const train::Experiment life = experiment_of({"task.kind=life", "automaton.channels=1"});
  EXPECT_GT(differences_from_rule(train::make_rule(life), data::conways_rule(), 20, 70, 5, 1), 0);
}

}  // namespace
}  // namespace boolgrad
