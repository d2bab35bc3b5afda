#include "boolgrad/model/simulation.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "boolgrad/automata/starts.h"
#include "boolgrad/data/automaton_task.h"
#include "tests/support/devices.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/thread_group.h"

namespace boolgrad {
namespace {

const Shape grid_shape{1, 2, 8, 9};

/// No cell fires, so that only damage changes the state.
Simulation frozen(SimulationOptions options) {
  options.fire_rate = 0;
  return {life_rule(), Tensor::ones(grid_shape, DType::uint8), options};
}

/// Expects exactly the cells of `hole` to be 0, in both grids.
void expect_hole(const automata::BitGrid& state, const automata::Rectangle& hole) {
  for (std::int64_t item = 0; item < state.batch(); ++item) {
    for (std::int64_t y = 0; y < state.height(); ++y) {
      for (std::int64_t x = 0; x < state.width(); ++x) {
        const bool inside = y >= hole.top && y < hole.top + hole.height && x >= hole.left &&
                            x < hole.left + hole.width;
        ASSERT_EQ(state.at(0, item, y, x), !inside) << item << ": " << y << ", " << x;
      }
    }
  }
}

TEST(Simulation, StepsTheRule) {
  const Tensor start = automata::random_starts({1, 20, 21}, 3, 1);
  Simulation simulation(life_rule(), start.viewed_as({1, 1, 20, 21}), {});
  EXPECT_EQ(simulation.steps(), 0);
  EXPECT_TRUE(same_bits(simulation.state().to_tensor(DType::uint8).viewed_as({1, 20, 21}), start));
  Tensor expected = start;
  for (int step = 1; step <= 5; ++step) {
    simulation.step();
    expected = data::life_step(expected);
    EXPECT_EQ(simulation.steps(), step);
    ASSERT_TRUE(
        same_bits(simulation.state().to_tensor(DType::uint8).viewed_as({1, 20, 21}), expected));
  }
}

TEST(Simulation, AppliesDamageAtTheGivenPlaceAndTime) {
  const automata::Rectangle hole{2, 3, 4, 5};
  Simulation simulation = frozen({.damage = {{hole, 3, 3}}});
  for (int step = 0; step < 3; ++step) {
    expect_hole(simulation.state(), {});
    EXPECT_TRUE(simulation.damaged().empty()) << step;
    simulation.step();
  }
  EXPECT_EQ(simulation.steps(), 3);
  EXPECT_EQ(simulation.damaged().size(), 1U);
  expect_hole(simulation.state(), hole);
  simulation.step();
  EXPECT_TRUE(simulation.damaged().empty());
}

TEST(Simulation, DamageCanBeginAtTheStartAndLast) {
  // Held cells stay dead after every step.
  const automata::Rectangle hole{0, 0, 3, 3};
  Simulation simulation(life_rule(), automata::random_starts(grid_shape, 1, 1),
                        {.damage = {{hole, 0, 4}}});
  for (int step = 0; step <= 6; ++step) {
    const bool held = step <= 4;
    EXPECT_EQ(simulation.damaged().size(), held ? 1U : 0U) << step;
    for (std::int64_t y = 0; held && y < 3; ++y) {
      for (std::int64_t x = 0; x < 3; ++x) ASSERT_FALSE(simulation.state().at(0, 0, y, x));
    }
    simulation.step();
  }
}

TEST(Simulation, ResetsMoveAfterEveryStep) {
  Simulation simulation = frozen({.seed = 5, .reset = 3});
  expect_hole(simulation.state(), {});
  simulation.step();
  ASSERT_EQ(simulation.damaged().size(), 1U);
  expect_hole(simulation.state(), simulation.damaged()[0]);
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (int step = 0; step < 200; ++step) {
    const automata::Rectangle& square = simulation.damaged()[0];
    check_rectangle(square, 8, 9);
    EXPECT_EQ(square.height, 3);
    EXPECT_EQ(square.width, 3);
    places.insert({square.top, square.left});
    simulation.step();
  }
  EXPECT_GT(places.size(), 30U) << "of 42";
}

class SimulationOnADevice : public DeviceTest {};

TEST_P(SimulationOnADevice, GivesTheSameStates) {
  SimulationOptions options{.fire_rate = 0.7, .damage = {{{0, 0, 3, 3}, 2, 4}}, .reset = 2};
  Simulation host(life_rule(), automata::random_starts(grid_shape, 1, 1), options);
  options.device = device();
  Simulation there(life_rule(), automata::random_starts(grid_shape, 1, 1), options);
  for (int step = 0; step < 9; ++step) {
    host.step();
    there.step();
    ASSERT_TRUE(
        same_bits(there.state().to_tensor(DType::uint8), host.state().to_tensor(DType::uint8)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SimulationOnADevice, all_other_devices, name_of_device);

TEST(Simulation, RandomUpdatesDependOnTheSeed) {
  const auto last = [](std::uint64_t seed) {
    Simulation simulation(life_rule(), automata::random_starts(grid_shape, 1, 1),
                          {.fire_rate = 0.5, .seed = seed});
    for (int step = 0; step < 5; ++step) simulation.step();
    return simulation.state().to_tensor(DType::uint8);
  };
  EXPECT_TRUE(same_bits(last(1), last(1)));
  EXPECT_FALSE(same_bits(last(1), last(2)));
}

TEST(Simulation, ManyStepsAtOnceEqualSingleSteps) {
  const SimulationOptions plain{.damage = {{{0, 0, 3, 3}, 2, 4}, {{4, 4, 2, 2}, 7, 7}}};
  SimulationOptions chance = plain;
  chance.fire_rate = 0.5;
  SimulationOptions resets = plain;
  resets.reset = 2;
  for (const SimulationOptions& options : {plain, chance, resets}) {
    Simulation one_by_one(life_rule(), automata::random_starts(grid_shape, 1, 1), options);
    Simulation at_once(life_rule(), automata::random_starts(grid_shape, 1, 1), options);
    for (int step = 0; step < 9; ++step) one_by_one.step();
    at_once.step(9);
    at_once.wait();
    EXPECT_EQ(at_once.steps(), 9);
    EXPECT_EQ(at_once.damaged().size(), one_by_one.damaged().size());
    EXPECT_TRUE(same_bits(at_once.state().to_tensor(DType::uint8),
                          one_by_one.state().to_tensor(DType::uint8)));
  }
}

TEST(Simulation, RanksShareAGridInStrips) {
  for (const Border border : {Border::periodic, Border::zero}) {
    const automata::Rule rule(border, 1, life_rule().perceive(), life_rule().update());
    const Tensor start = automata::random_starts({1, 2, 13, 70}, 3, 1);
    for (const double rate : {1.0, 0.7}) {
      SimulationOptions options{
          .fire_rate = rate, .seed = 9, .damage = {{{3, 4, 6, 20}, 5, 6}}, .reset = 3};
      Simulation alone(rule, start, options);
      alone.step(12);
      const Tensor expected = alone.state().to_tensor(DType::uint8);
      for (const int ranks : {2, 3, 13}) {
        testing_support::run_as_ranks(ranks, [&](Group& group) {
          SimulationOptions shared = options;
          shared.group = &group;
          Simulation strips(rule, start, shared);
          strips.step(7);
          strips.state();
          strips.step(5);
          EXPECT_TRUE(same_bits(strips.state().to_tensor(DType::uint8), expected))
              << ranks << " ranks, rank " << group.rank();
        });
      }
    }
  }
  testing_support::run_as_ranks(9, [](Group& group) {
    expect_error(
        [&] { Simulation(life_rule(), Tensor::ones(grid_shape, DType::uint8), {.group = &group}); },
        "[automaton] expected a grid of a row or more for each of 9 ranks, received 8 rows");
  });
}

TEST(Simulation, RejectsInvalidArguments) {
  const auto damaged = [](const automata::Rectangle& rectangle) {
    return [rectangle] { frozen({.damage = {{rectangle, 0, 0}}}); };
  };
  expect_error(damaged({5, 0, 4, 1}),
               "[damage] expected a rectangle inside 8x9 cells, received 4x1 at row 5, column "
               "0");
  expect_error(damaged({-1, 0, 4, 1}),
               "[damage] expected a rectangle inside 8x9 cells, received 4x1 at row -1, column "
               "0");
  expect_error(damaged({0, 0, 1, 0}),
               "[damage] expected a rectangle inside 8x9 cells, received 1x0 at row 0, column "
               "0");
  expect_error(
      [] {
        Simulation(life_rule(), Tensor::zeros({1, 1, 2, 9}, DType::uint8), {});
      },
      "[grid] expected at least 3x3 cells with periodic borders, received 2x9");
  expect_error(
      [] {
        Simulation(life_rule(), Tensor::zeros({2, 1, 3, 9}, DType::uint8), {});
      },
      "[automaton] expected a state of 1 channels, received 2");
}

}  // namespace
}  // namespace boolgrad
