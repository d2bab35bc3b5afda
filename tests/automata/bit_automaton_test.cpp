#include "boolgrad/automata/bit_automaton.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/random_rules.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::automata {
namespace {

Rule random_rule(const RuleShape& shape, Border border, std::uint64_t seed) {
  return Rule::make(shape, border, Parametrisation::softmax16, DType::float32,
                    {logic::Initialisation::gaussian, 1}, seed);
}

/// All states of a rollout of the soft kernels with hard tables.
Tensor states_by_numbers(const Rule& rule, const Tensor& starts, const Tensor& fire,
                         std::int64_t steps) {
  std::vector<Tensor> tables;
  for (const Tensor& table : rule.hard_tables()) tables.push_back(cast(table, DType::float32));
  return rollout(rule, tables, cast(starts, DType::float32), fire,
                 {.steps = steps, .returned = steps})
      .detach();
}

Tensor fire_of(const Tensor& fire, std::int64_t step) { return slice(fire, 0, step, step + 1); }

TEST(BitAutomaton, StepsLikeSoftGatesWithHardTables) {
  EXPECT_TRUE(rc::check("bits and soft values agree in every step", [](std::uint64_t seed) {
    Choices choose(seed);
    const Rule rule = random_rule(choose, seed);
    // Widths around one, two and three words.
    const std::int64_t width =
        choose.below(2) == 0 ? choose.between(3, 200) : 64 * choose.between(1, 3) - choose.below(3);
    const RolloutSize size{choose.between(1, 3), choose.between(3, 8), width, 3};
    const Tensor starts =
        random_starts({rule.channels(), size.batch, size.height, size.width}, seed, 1);
    const Tensor fire = choose.below(2) == 0 ? fire_masks(size, 0.6, seed, 2) : Tensor();
    const Tensor expected = states_by_numbers(rule, starts, fire, size.steps);

    BitAutomaton automaton(rule);
    BitGrid state = BitGrid::from(starts);
    for (std::int64_t step = 0; step < size.steps; ++step) {
      if (fire.defined()) {
        const BitGrid fires = BitGrid::from(fire_of(fire, step));
        automaton.step(state, &fires);
      } else {
        automaton.step(state);
      }
      const Tensor now = slice(expected, 0, step, step + 1).viewed_as(starts.shape());
      RC_ASSERT(same_bits(state.to_tensor(DType::float32), now));
    }
  }));
}

TEST(BitAutomaton, PlaysLife) {
  BitAutomaton automaton(life_rule());
  Tensor expected = random_starts({1, 37, 75}, 5, 1);
  BitGrid state = BitGrid::from(expected.viewed_as({1, 1, 37, 75}));
  for (int step = 0; step < 40; ++step) {
    automaton.step(state);
    expected = data::life_step(expected);
    ASSERT_TRUE(same_bits(state.to_tensor(DType::uint8), expected.viewed_as({1, 1, 37, 75})));
  }
}

TEST(BitAutomaton, IsDeterministicForAnyNumberOfThreads) {
  const int before = thread_count();
  const RuleShape shape{.channels = 3, .kernels = 2, .perceive = {8, 4}, .update = {30}};
  const Rule rule = random_rule(shape, Border::periodic, 4);
  const RolloutSize size{2, 300, 500, 1};
  const Tensor starts = random_starts({3, size.batch, size.height, size.width}, 4, 1);
  const BitGrid fire = BitGrid::from(fire_masks(size, 0.6, 4, 2));
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    BitAutomaton automaton(rule);
    BitGrid state = BitGrid::from(starts);
    for (int step = 0; step < 3; ++step) automaton.step(state, &fire);
    results.push_back(state.to_tensor(DType::uint8));
  }
  set_thread_count(before);
  EXPECT_FALSE(same_bits(results[0], starts)) << "the state must change";
  EXPECT_TRUE(same_bits(results[0], results[1]));
  EXPECT_TRUE(same_bits(results[0], results[2]));
}

TEST(BitAutomaton, KeepsCellsThatDoNotFire) {
  const Rule rule = life_rule();
  const Tensor starts = random_starts({1, 1, 9, 70}, 2, 1);
  const BitGrid no_cells(1, 1, 9, 70);
  BitGrid state = BitGrid::from(starts);
  BitAutomaton(rule).step(state, &no_cells);
  EXPECT_TRUE(same_bits(state.to_tensor(DType::uint8), starts));
  BitAutomaton(rule).step(state);
  EXPECT_FALSE(same_bits(state.to_tensor(DType::uint8), starts));
}

TEST(BitAutomaton, CountsItsOperations) {
  EXPECT_GE(BitAutomaton(life_rule()).operations(), 10);
  EXPECT_LE(BitAutomaton(life_rule()).operations(), 40);
  EXPECT_EQ(BitAutomaton(life_rule()).channels(), 1);
}

TEST(BitAutomaton, RejectsStatesOfTheWrongSize) {
  BitAutomaton automaton(life_rule());
  BitGrid two_channels(2, 1, 4, 4);
  expect_error([&] { automaton.step(two_channels); },
               "[automaton] expected a state of 1 channels, received 2");
  BitGrid small(1, 1, 2, 5);
  expect_error([&] { automaton.step(small); },
               "[grid] expected at least 3x3 cells with periodic borders, received 2x5");
}

}  // namespace
}  // namespace boolgrad::automata
