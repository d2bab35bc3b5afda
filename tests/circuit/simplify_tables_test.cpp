#include "boolgrad/circuit/passes/simplify_tables.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/built_in_netlists.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

int widest(const Netlist& netlist) {
  int inputs = 0;
  for (const NetlistGate& gate : netlist.gates) inputs = std::max<int>(inputs, gate.arity);
  return inputs;
}

/// Eight functions of six inputs without shared logic.
Netlist unrelated_tables() {
  Netlist result = random_netlist(24, 8, 8, 6, 3);
  for (std::size_t g = 0; g < 8; ++g) {
    const auto bits = random_bits({.seed = 5, .index = g});
    result.gates[g] = {.truth = std::uint64_t{bits[0]} << 32 | bits[1], .arity = 6};
    for (std::size_t j = 0; j < 6; ++j) {
      result.gates[g].inputs[j] = static_cast<Net>((5 * g + 3 * j) % 24);
    }
    result.output_nets[g] = result.gate(g);
  }
  return checked(std::move(result));
}

TEST(SimplifyTables, NeverAddsGates) {
  EXPECT_TRUE(rc::check("for tables of any arity", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(12, 60, 20, 2 + static_cast<int>(seed % 5), seed);
    const Netlist result = simplify_tables(netlist);
    RC_ASSERT(gate_count(result) <= gate_count(netlist));
    RC_ASSERT(!difference(netlist, result));
  }));
}

TEST(SimplifyTables, KeepsTablesThatNeedMoreTwoInputGates) {
  const Netlist netlist = unrelated_tables();
  EXPECT_GT(gate_count(simplify(netlist)), 8);
  const Netlist result = simplify_tables(netlist);
  EXPECT_EQ(gate_count(result), 8);
  EXPECT_FALSE(difference(netlist, result));
}

TEST(SimplifyTables, ChoosesTwoInputGatesIfThereAreFewer) {
  const Netlist result = simplify_tables(built_in_netlist("add"));
  EXPECT_EQ(gate_count(result), 17);
  EXPECT_EQ(widest(result), 2);
}

TEST(CoverWithLut6, ChoosesTheSmallerOfTablesAndMapping) {
  const Netlist tables = unrelated_tables();
  EXPECT_EQ(gate_count(cover_with_lut6(tables, simplify(tables))), 8);
  const Netlist add = built_in_netlist("add");
  EXPECT_EQ(gate_count(cover_with_lut6(add, simplify(add))), 6);
}

TEST(CoverWithLut6, PreservesTheFunction) {
  EXPECT_TRUE(rc::check("for tables of any arity", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(12, 60, 20, 2 + static_cast<int>(seed % 5), seed);
    const Netlist gates = simplify(netlist);
    const Netlist result = cover_with_lut6(netlist, gates);
    RC_ASSERT(!difference(netlist, result));
    RC_ASSERT(widest(result) <= 6);
    RC_ASSERT(gate_count(result) <= gate_count(netlist));
  }));
}

}  // namespace
}  // namespace boolgrad::circuit
