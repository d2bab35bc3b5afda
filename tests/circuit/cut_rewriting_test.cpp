#include "boolgrad/circuit/passes/cut_rewriting.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "boolgrad/core/random.h"
#include "tests/support/bit_circuits.h"

namespace boolgrad::circuit {
namespace {

/// Random gates that rarely simplify on construction.
BitCircuit dense_circuit(std::int64_t inputs, std::int64_t size, std::uint64_t seed) {
  BitCircuit circuit(inputs);
  std::vector<BitLiteral> literals;
  for (std::int64_t i = 0; i < inputs; ++i) literals.push_back(circuit.input(i));
  std::uint64_t index = 0;
  const auto random_literal = [&] {
    const std::uint64_t recent = std::min<std::uint64_t>(literals.size(), 20);
    const std::uint64_t choice = random_below({.seed = seed, .index = index++}, 2 * recent);
    return literals[literals.size() - 1 - choice / 2] ^ (choice % 2 != 0);
  };
  for (std::int64_t i = 0; i < size; ++i) {
    const BitLiteral a = random_literal();
    const BitLiteral b = random_literal();
    literals.push_back(i % 2 == 0 ? circuit.exclusive_or(a, b) : circuit.conjunction(a, b));
  }
  for (std::size_t i = 0; i < 10; ++i) circuit.add_output(literals[literals.size() - 1 - i]);
  return circuit;
}

TEST(CutRewriting, PreservesTheFunctionAndNeverAddsGates) {
  EXPECT_TRUE(rc::check("on random circuits", [](std::uint64_t seed) {
    const BitCircuit circuit = dense_circuit(8, 100, seed);
    const BitCircuit rewritten = rewrite_cuts(circuit);
    RC_ASSERT(same_function(circuit, rewritten));
    RC_ASSERT(rewritten.gates() <= circuit.gates());
  }));
}

TEST(CutRewriting, FindsOptimalImplementations) {
  BitCircuit circuit(6);
  // The majority of three as a sum of products has five gates, the optimum is four.
  const BitLiteral a = circuit.input(0);
  const BitLiteral b = circuit.input(1);
  const BitLiteral c = circuit.input(2);
  circuit.add_output(
      circuit.disjunction(circuit.disjunction(circuit.conjunction(a, b), circuit.conjunction(b, c)),
                          circuit.conjunction(a, c)));
  EXPECT_EQ(circuit.gates(), 5);
  EXPECT_EQ(rewrite_cuts(circuit).gates(), 4);
}

TEST(CutRewriting, SharesExistingGates) {
  BitCircuit circuit(6);
  const BitLiteral a = circuit.input(0);
  const BitLiteral b = circuit.input(1);
  const BitLiteral c = circuit.input(2);
  const SumAndCarry sum = full_adder(circuit, a, b, c);
  circuit.add_output(sum.sum);
  circuit.add_output(sum.carry);
  EXPECT_EQ(rewrite_cuts(circuit).gates(), 5);
}

TEST(CutRewriting, PinsRandomCircuits) {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const BitCircuit circuit = dense_circuit(10, 200, seed);
    before.push_back(circuit.gates());
    after.push_back(rewrite_cuts(circuit).gates());
  }
  EXPECT_EQ(before, (std::vector<std::int64_t>{123, 53, 63}));
  EXPECT_EQ(after, (std::vector<std::int64_t>{82, 40, 19}));
}

TEST(CutRewriting, SimplifiesLife) { EXPECT_EQ(rewrite_cuts(life_circuit()).gates(), 26); }

TEST(CutRewriting, HandlesConstantAndInputOutputs) {
  BitCircuit circuit(6);
  circuit.add_output(circuit.constant(true));
  circuit.add_output(!circuit.input(3));
  EXPECT_EQ(rewrite_cuts(circuit).gates(), 0);
  EXPECT_TRUE(same_function(circuit, rewrite_cuts(circuit)));
}

TEST(CutRewriting, LargeCircuitsGetFewerRounds) {
  const RewritingParams params;
  EXPECT_EQ(params.rounds_for(0), params.max_rounds);
  EXPECT_EQ(params.rounds_for(25'000), params.max_rounds);
  EXPECT_EQ(params.rounds_for(100'000), 10);
  EXPECT_EQ(params.rounds_for(10'000'000), 1);
  EXPECT_EQ((RewritingParams{.max_rounds = 0}.rounds_for(100)), 0);
  const BitCircuit circuit = random_circuit(8, 300, 6, 3);
  const BitCircuit limited = rewrite_cuts(circuit, {.max_visits = 1});
  EXPECT_TRUE(same_function(circuit, limited));
  EXPECT_EQ(limited.gates(), rewrite_cuts(circuit, {.max_rounds = 1}).gates());
}

}  // namespace
}  // namespace boolgrad::circuit
