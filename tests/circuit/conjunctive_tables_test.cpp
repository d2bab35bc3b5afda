#include "boolgrad/circuit/cells/conjunctive_tables.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <string>

#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

/// One table.
Netlist table(std::uint64_t truth, std::size_t inputs) {
  Netlist netlist;
  NetlistGate gate{.truth = truth, .arity = static_cast<std::uint8_t>(inputs)};
  for (std::size_t i = 0; i < inputs; ++i) {
    netlist.inputs.push_back("x" + std::to_string(i));
    gate.inputs[i] = static_cast<Net>(i);
  }
  netlist.gates = {gate};
  netlist.outputs = {"y"};
  netlist.output_nets = {netlist.gate(0)};
  return checked(std::move(netlist));
}

std::int64_t gates_of(std::uint64_t truth, std::size_t inputs) {
  const Netlist decomposed = decompose_for_cells(table(truth, inputs));
  EXPECT_FALSE(difference(decomposed, table(truth, inputs)));
  return gate_count(decomposed);
}

TEST(ConjunctiveTables, PreserveTheFunction) {
  EXPECT_TRUE(rc::check("of random tables", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(9, 40, 6, 6, seed);
    const Netlist decomposed = decompose_for_cells(netlist);
    RC_ASSERT(!difference(netlist, decomposed));
    for (const NetlistGate& gate : decomposed.gates) {
      RC_ASSERT(gate.arity <= 2);
    }
    RC_ASSERT(!difference(netlist, form_for_cells(netlist, simplify(netlist))));
  }));
}

TEST(ConjunctiveTables, UseThatATableIsMonotone) {
  EXPECT_EQ(gates_of(0b11101000, 3), 4);          // a majority: a b OR c (a OR b)
  EXPECT_EQ(gates_of(0b10010110, 3), 2);          // a parity keeps its XORs
  EXPECT_EQ(gates_of(0x8000000000000000, 6), 5);  // a conjunction
  EXPECT_EQ(gates_of(0b11100100, 3), 3);          // a multiplexer
}

TEST(ConjunctiveTables, FormForCellsIsTheLighterOne) {
  // At least four of six: rises with every input.
  std::uint64_t truth = 0;
  for (unsigned i = 0; i < 64; ++i) {
    truth |= std::uint64_t{std::popcount(i) >= 4} << i;
  }
  const Netlist majority = table(truth, 6);
  const Netlist lighter = form_for_cells(majority, decompose(majority));
  EXPECT_FALSE(difference(majority, lighter));
  for (const NetlistGate& gate : lighter.gates) EXPECT_NE(gate.truth, 0b0110U);
  // A circuit of gates stays as it is.
  const Netlist sum = table(0b0110, 2);
  EXPECT_EQ(form_for_cells(sum, sum), decompose(sum));
}

}  // namespace
}  // namespace boolgrad::circuit
