#include "boolgrad/automata/simplified_automaton.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "boolgrad/automata/starts.h"
#include "boolgrad/data/automaton_task.h"
#include "tests/support/messages.h"
#include "tests/support/random_rules.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::automata {
namespace {

TEST(SimplifiedAutomaton, StepsLikeTheRule) {
  EXPECT_TRUE(rc::check("simplified rules lead to the same states", [](std::uint64_t seed) {
    Choices choose(seed);
    const Rule rule = random_rule(choose, seed);
    BitGrid state = BitGrid::from(random_starts({rule.channels(), 2, 7, 70}, seed % 1000, 0));
    BitGrid expected = state;
    BitAutomaton as_it_is(rule);
    BitAutomaton simplified = simplified_automaton(rule);
    RC_ASSERT(simplified.operations() <= as_it_is.operations());
    for (int step = 0; step < 4; ++step) {
      simplified.step(state);
      as_it_is.step(expected);
    }
    RC_ASSERT(same_bits(state.to_tensor(DType::uint8), expected.to_tensor(DType::uint8)));
  }));
}

TEST(SimplifiedAutomaton, RejectsTheCircuitOfAnotherRule) {
  const Rule rule = Rule::make({2, 1, {8}, {6}}, Border::zero, Parametrisation::softmax16,
                               DType::float32, {logic::Initialisation::gaussian, 1}, 1);
  expect_error([&] { const BitAutomaton automaton(rule, circuit::BitCircuit(9)); },
               "[automaton] expected a circuit of 18 inputs and 2 outputs, received 9 and 0");
}

}  // namespace
}  // namespace boolgrad::automata
