#include "boolgrad/circuit/passes/arithmetic_resynthesis.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <string>
#include <vector>

#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/exported_netlists.h"

namespace boolgrad::circuit {
namespace {

/// A function of up to twelve inputs as a circuit of multiplexers.
BitCircuit circuit_of(std::int64_t inputs, std::size_t outputs,
                      const std::function<std::uint64_t(std::uint64_t)>& f) {
  BitCircuit circuit(inputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    std::vector<BitLiteral> values;
    for (std::uint64_t i = 0; i < std::uint64_t{1} << inputs; ++i) {
      values.push_back(circuit.constant((f(i) >> o & 1) != 0));
    }
    for (std::int64_t j = 0; j < inputs; ++j) {
      for (std::size_t i = 0; 2 * i < values.size(); ++i) {
        values[i] = circuit.multiplexer(circuit.input(j), values[2 * i + 1], values[2 * i]);
      }
      values.resize(values.size() / 2);
    }
    circuit.add_output(values[0]);
  }
  return circuit;
}

/// The gates after the pass, which must preserve the function.
std::int64_t gates_after(const BitCircuit& circuit) {
  const BitCircuit result = resynthesise_arithmetic(circuit);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto words = random_words(static_cast<std::size_t>(circuit.inputs()), seed);
    EXPECT_EQ(circuit.evaluate(words), result.evaluate(words));
  }
  return netlist_gate_count(result);
}

TEST(ArithmeticResynthesis, FindsAdders) {
  const auto low = [](std::uint64_t x, int bits) { return x & ((std::uint64_t{1} << bits) - 1); };
  // A full adder has five gates, a half adder two.
  EXPECT_EQ(gates_after(circuit_of(8, 5, [&](auto x) { return low(x, 4) + (x >> 4); })), 2 + 3 * 5);
  EXPECT_EQ(gates_after(circuit_of(8, 8, [&](auto x) { return low(x, 4) * (x >> 4); })),
            16 + 8 * 5 + 4 * 2);
  EXPECT_EQ(gates_after(circuit_of(
                7, 3, [](auto x) { return static_cast<std::uint64_t>(std::popcount(x)); })),
            4 * 5);
  // Multiply and accumulate.
  EXPECT_LE(gates_after(circuit_of(
                9, 7, [&](auto x) { return low(x, 3) * low(x >> 3, 3) + low(x >> 6, 3); })),
            9 + 9 * 5);
  // The highest digit first.
  EXPECT_EQ(gates_after(circuit_of(4, 3,
                                   [&](auto x) {
                                     const std::uint64_t sum = low(x, 2) + (x >> 2);
                                     return (sum & 1) << 2 | (sum & 2) | sum >> 2;
                                   })),
            2 + 5);
}

TEST(ArithmeticResynthesis, FindsParities) {
  const BitCircuit parity =
      circuit_of(9, 1, [](auto x) { return static_cast<std::uint64_t>(std::popcount(x)) + 1; });
  EXPECT_LE(gates_after(parity), 9);
}

TEST(ArithmeticResynthesis, AddsNegativeTermsAndConstants) {
  EXPECT_LE(gates_after(circuit_of(8, 4, [](auto x) { return (x & 15) - (x >> 4); })), 20);
  EXPECT_LE(gates_after(circuit_of(6, 9, [](auto x) { return 5 * x + 77; })), 40);
  EXPECT_LE(gates_after(circuit_of(6, 8, [](auto x) { return 15 * x - 3; })), 40);
}

TEST(ArithmeticResynthesis, LeavesOtherCircuits) {
  const auto unchanged = [](const BitCircuit& circuit) {
    const BitCircuit result = resynthesise_arithmetic(circuit);
    return result.outputs().size() == circuit.outputs().size() &&
           std::ranges::equal(result.outputs(), circuit.outputs()) &&
           result.nodes().size() == circuit.nodes().size();
  };
  // A permutation has a polynomial of many terms.
  EXPECT_TRUE(unchanged(circuit_of(8, 8, [](auto x) { return (x * x * 37 + x * 11) ^ (x >> 3); })));
  EXPECT_TRUE(unchanged(circuit_of(8, 1, [](auto x) { return x % 3 == 0 ? 1U : 0U; })));
  EXPECT_TRUE(unchanged(BitCircuit(3)));
  // Gates that are already fewer.
  BitCircuit wires(4);
  for (std::int64_t i = 0; i < 4; ++i) wires.add_output(wires.input(3 - i));
  EXPECT_TRUE(unchanged(wires));
  ArithmeticParams params;
  params.max_inputs = 7;
  const BitCircuit adder = circuit_of(8, 5, [](auto x) { return (x & 15) + (x >> 4); });
  EXPECT_EQ(resynthesise_arithmetic(adder, params).nodes().size(), adder.nodes().size());
}

TEST(ArithmeticResynthesis, PreservesEveryFunction) {
  EXPECT_TRUE(rc::check([] {
    const auto inputs = *rc::gen::inRange<std::size_t>(1, 7);
    const auto gates = *rc::gen::inRange<std::size_t>(1, 40);
    const Netlist netlist = random_netlist({.inputs = inputs, .gates = gates, .outputs = 4},
                                           *rc::gen::arbitrary<std::uint64_t>());
    const Netlist result = resynthesise_arithmetic(netlist);
    RC_ASSERT(!difference(netlist, result));
    RC_ASSERT(gate_count(result) <= gate_count(decompose(netlist)));
  }));
}

}  // namespace
}  // namespace boolgrad::circuit
