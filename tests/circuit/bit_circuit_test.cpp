#include "boolgrad/circuit/bits/bit_circuit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>

#include "boolgrad/logic/gates.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

using Literal = BitCircuit::Literal;

/// The truth table of a circuit of at most six inputs and one output.
std::uint64_t truth_of(const BitCircuit& circuit) {
  const auto inputs = static_cast<std::size_t>(circuit.inputs());
  const std::uint64_t word = circuit.evaluate(all_cases(inputs))[0];
  return inputs == 6 ? word : word & ((std::uint64_t{1} << (1U << inputs)) - 1);
}

BitCircuit circuit_of_table(std::size_t inputs, std::uint64_t truth) {
  BitCircuit circuit(static_cast<std::int64_t>(inputs));
  std::vector<Literal> literals;
  for (std::size_t j = 0; j < inputs; ++j) {
    literals.push_back(circuit.input(static_cast<std::int64_t>(j)));
  }
  circuit.add_output(circuit.table(literals, truth));
  return circuit;
}

std::uint64_t entries_below(std::size_t inputs) {
  return inputs == 6 ? ~std::uint64_t{0} : (std::uint64_t{1} << (1U << inputs)) - 1;
}

TEST(BitCircuit, EveryTwoInputGateNeedsAtMostOneNode) {
  for (const logic::Gate& gate : logic::gates) {
    std::uint64_t truth = 0;
    for (int i = 0; i < 4; ++i) truth |= std::uint64_t{gate.entry(i)} << i;
    const BitCircuit circuit = circuit_of_table(2, truth);
    EXPECT_EQ(truth_of(circuit), truth) << gate.name;
    const bool reads_both = gate.coefficients[3] != 0;
    EXPECT_EQ(circuit.gates(), reads_both ? 1 : 0) << gate.name;
    EXPECT_EQ(static_cast<std::int64_t>(circuit.nodes().size()), 3 + circuit.gates()) << gate.name;
  }
}

// Every function of three inputs needs at most four gates.
TEST(BitCircuit, EveryFunctionOfThreeInputs) {
  std::int64_t most = 0;
  std::int64_t total = 0;
  for (std::uint64_t truth = 0; truth < 256; ++truth) {
    const BitCircuit circuit = circuit_of_table(3, truth);
    ASSERT_EQ(truth_of(circuit), truth);
    most = std::max(most, circuit.gates());
    total += circuit.gates();
  }
  EXPECT_EQ(most, 4);
  EXPECT_EQ(total, 602);
}

// Not optimal (which would be at most 7). Pinned to detect drift.
TEST(BitCircuit, EveryFunctionOfFourInputs) {
  std::int64_t most = 0;
  std::int64_t total = 0;
  for (std::uint64_t truth = 0; truth < 65536; ++truth) {
    const BitCircuit circuit = circuit_of_table(4, truth);
    ASSERT_EQ(truth_of(circuit), truth);
    most = std::max(most, circuit.gates());
    total += circuit.gates();
  }
  EXPECT_EQ(most, 9);
  EXPECT_EQ(total, 371458);
}

RC_GTEST_PROP(BitCircuit, RandomTablesUpToSixInputs, (std::uint64_t truth)) {
  for (std::size_t inputs = 0; inputs <= 6; ++inputs) {
    const std::uint64_t cut = truth & entries_below(inputs);
    RC_ASSERT(truth_of(circuit_of_table(inputs, cut)) == cut);
  }
}

// Tables with constant, repeated and complementary inputs.
RC_GTEST_PROP(BitCircuit, TablesWithDependentInputs, (std::uint64_t truth)) {
  BitCircuit circuit(3);
  const std::array pool{
      circuit.constant(false), circuit.constant(true),
      circuit.input(0),        !circuit.input(0),
      circuit.input(1),        !circuit.input(1),
      circuit.input(2),        circuit.conjunction(circuit.input(0), circuit.input(1))};
  std::vector<Literal> inputs;
  for (int j = 0; j < 6; ++j) inputs.push_back(pool[*rc::gen::inRange<std::size_t>(0, 8)]);
  circuit.add_output(circuit.table(inputs, truth));
  for (const Literal literal : inputs) circuit.add_output(literal);
  const std::vector<std::uint64_t> words = circuit.evaluate(all_cases(3));
  for (int i = 0; i < 8; ++i) {
    std::size_t entry = 0;
    for (std::size_t j = 0; j < 6; ++j) entry |= ((words[j + 1] >> i) & 1) << j;
    RC_ASSERT(((words[0] >> i) & 1) == ((truth >> entry) & 1));
  }
}

// Few inputs and many gates, so that every rewriting rule applies.
RC_GTEST_PROP(BitCircuit, SimplificationPreservesTheFunction, (std::uint64_t seed)) {
  const auto inputs = static_cast<std::size_t>(*rc::gen::inRange(1, 6));
  BitCircuit circuit(static_cast<std::int64_t>(inputs));
  std::vector<std::uint64_t> plain = all_cases(inputs);  // without any simplification
  std::vector<Literal> literals;
  for (std::size_t j = 0; j < inputs; ++j) {
    literals.push_back(circuit.input(static_cast<std::int64_t>(j)));
  }
  std::uint64_t index = 0;
  const auto below = [&](std::size_t bound) {
    return random_below({.seed = seed, .index = index++}, bound);
  };
  for (int i = 0; i < 200; ++i) {
    std::array<Literal, 3> in;
    std::array<std::uint64_t, 3> words;
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t from = below(literals.size());
      const bool flip = below(2) != 0;
      in[j] = literals[from] ^ flip;
      words[j] = flip ? ~plain[from] : plain[from];
    }
    switch (below(4)) {
      case 0:
        literals.push_back(circuit.conjunction(in[0], in[1]));
        plain.push_back(words[0] & words[1]);
        break;
      case 1:
        literals.push_back(circuit.exclusive_or(in[0], in[1]));
        plain.push_back(words[0] ^ words[1]);
        break;
      case 2:
        literals.push_back(circuit.disjunction(in[0], in[1]));
        plain.push_back(words[0] | words[1]);
        break;
      default:
        literals.push_back(circuit.multiplexer(in[0], in[1], in[2]));
        plain.push_back((words[0] & words[1]) | (~words[0] & words[2]));
    }
    circuit.add_output(literals.back());
  }
  const std::vector<std::uint64_t> words = circuit.evaluate(all_cases(inputs));
  for (std::size_t i = 0; i < words.size(); ++i) RC_ASSERT(words[i] == plain[inputs + i]);
}

TEST(BitCircuit, FoldsTrivialGates) {
  BitCircuit circuit(2);
  const Literal a = circuit.input(0);
  const Literal b = circuit.input(1);
  const Literal yes = circuit.constant(true);
  const Literal no = circuit.constant(false);
  EXPECT_EQ(!!a, a);
  EXPECT_EQ(!no, yes);
  EXPECT_EQ(circuit.conjunction(a, no), no);
  EXPECT_EQ(circuit.conjunction(yes, a), a);
  EXPECT_EQ(circuit.conjunction(a, a), a);
  EXPECT_EQ(circuit.conjunction(a, !a), no);
  EXPECT_EQ(circuit.exclusive_or(a, a), no);
  EXPECT_EQ(circuit.exclusive_or(a, !a), yes);
  EXPECT_EQ(circuit.exclusive_or(a, yes), !a);
  EXPECT_EQ(circuit.conjunction(a, b), circuit.conjunction(b, a));
  EXPECT_EQ(circuit.exclusive_or(a, b), circuit.exclusive_or(!b, !a));
  EXPECT_EQ(circuit.exclusive_or(a, b), !circuit.exclusive_or(!b, a));
  EXPECT_EQ(circuit.nodes().size(), 5U);
}

TEST(BitCircuit, AppliesOneLevelRules) {
  BitCircuit circuit(3);
  const Literal a = circuit.input(0);
  const Literal b = circuit.input(1);
  const Literal c = circuit.input(2);
  const Literal ab = circuit.conjunction(a, b);
  const Literal a_xor_b = circuit.exclusive_or(a, b);
  const Literal neither = circuit.conjunction(!a, !b);
  EXPECT_EQ(circuit.conjunction(a, ab), ab);
  EXPECT_EQ(circuit.conjunction(!a, ab), circuit.constant(false));
  EXPECT_EQ(circuit.conjunction(!a, !ab), !a);
  EXPECT_EQ(circuit.conjunction(a, !ab), circuit.conjunction(a, !b));
  EXPECT_EQ(circuit.conjunction(!ab, !neither), a_xor_b);
  EXPECT_EQ(circuit.conjunction(ab, a_xor_b), circuit.constant(false));
  EXPECT_EQ(circuit.exclusive_or(a_xor_b, b), a);
  EXPECT_EQ(circuit.exclusive_or(a_xor_b, circuit.exclusive_or(b, c)), circuit.exclusive_or(a, c));
  EXPECT_EQ(circuit.exclusive_or(a, ab), circuit.conjunction(a, !b));
  EXPECT_EQ(circuit.multiplexer(a, b, b), b);
  EXPECT_EQ(circuit.multiplexer(a, !b, b), a_xor_b);
  EXPECT_EQ(circuit.multiplexer(a, a, b), circuit.disjunction(a, b));
}

TEST(BitCircuit, KnownCircuitsHaveKnownSizes) {
  BitCircuit adder(3);
  const SumAndCarry bits = full_adder(adder, adder.input(0), adder.input(1), adder.input(2));
  adder.add_output(bits.sum);
  adder.add_output(bits.carry);
  EXPECT_EQ(adder.gates(), 5);
  EXPECT_EQ(life_circuit().gates(), 27);
}

TEST(BitCircuit, LifeIsConwaysRule) {
  const BitCircuit life = life_circuit();
  for (std::uint64_t block = 0; block < 8; ++block) {
    const std::uint64_t word = life.evaluate(all_cases(9, block))[0];
    for (std::uint64_t i = 0; i < 64; ++i) {
      const std::uint64_t cells = block * 64 + i;
      const int neighbours = std::popcount(cells & ~std::uint64_t{16});
      const bool alive = neighbours == 3 || (neighbours == 2 && (cells & 16) != 0);
      ASSERT_EQ(((word >> i) & 1) != 0, alive) << cells;
    }
  }
}

TEST(BitCircuit, CountsOnlyReachableGates) {
  BitCircuit circuit(2);
  const Literal both = circuit.conjunction(circuit.input(0), circuit.input(1));
  circuit.exclusive_or(circuit.input(0), circuit.input(1));
  EXPECT_EQ(circuit.gates(), 0);
  circuit.add_output(!both);
  EXPECT_EQ(circuit.gates(), 1);
  EXPECT_EQ(circuit.reachable(), (std::vector<bool>{false, true, true, true, false}));
}

TEST(BitCircuit, RejectsInvalidArguments) {
  expect_error([] { BitCircuit(-1); },
               "[BitCircuit] expected between 0 and 2147483646 inputs, received -1");
  BitCircuit circuit(2);
  const Literal a = circuit.input(0);
  const Literal stranger(7, true);
  expect_error([&] { circuit.input(2); }, "[BitCircuit] expected an input below 2, received 2");
  expect_error([&] { circuit.input(-1); }, "[BitCircuit] expected an input below 2, received -1");
  const auto refused = [](const std::string& where) {
    return "[" + where + "] expected literals of a circuit of 3 nodes, received node 7";
  };
  expect_error([&] { circuit.conjunction(a, stranger); }, refused("conjunction"));
  expect_error([&] { circuit.exclusive_or(stranger, a); }, refused("exclusive_or"));
  expect_error([&] { circuit.multiplexer(a, a, stranger); }, refused("multiplexer"));
  expect_error([&] { circuit.table(std::array{stranger}, 2); }, refused("table"));
  expect_error([&] { circuit.add_output(stranger); }, refused("add_output"));
  expect_error([&] { circuit.table(std::vector<Literal>(7, a), 0); },
               "[table] expected at most 6 inputs, received 7");
  expect_error([&] { circuit.table(std::array{a}, 4); },
               "[table] expected a truth table of 2 bits, received 0x4");
  expect_error([&] { circuit.evaluate(std::array<std::uint64_t, 1>{0}); },
               "[BitCircuit] expected 2 input words, received 1");
}

}  // namespace
}  // namespace boolgrad::circuit
