#include "boolgrad/circuit/passes/mapping.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

/// The XOR of all inputs as a chain.
Netlist parity(std::size_t inputs) {
  Netlist netlist;
  for (std::size_t i = 0; i < inputs; ++i) netlist.inputs.push_back(fmt::format("x{}", i));
  Net last = 0;
  for (std::size_t i = 1; i < inputs; ++i) {
    netlist.gates.push_back({.truth = 0b0110, .inputs = {last, netlist.input(i)}, .arity = 2});
    last = netlist.gate(i - 1);
  }
  netlist.outputs = {"odd"};
  netlist.output_nets = {last};
  return checked(std::move(netlist));
}

TEST(Mapping, PreservesTheFunctionAndLimitsTheArity) {
  EXPECT_TRUE(rc::check("for every arity", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(9, 80, 6, 3, seed);
    for (const int inputs : {2, 3, 4, 6}) {
      for (const bool keeps_depth : {true, false}) {
        MappingStats stats;
        const Netlist result =
            map_to_luts(netlist, {.inputs = inputs, .keeps_depth = keeps_depth}, &stats);
        RC_ASSERT(!difference(netlist, result));
        for (const NetlistGate& gate : result.gates) {
          RC_ASSERT(gate.arity <= inputs);
        }
        RC_ASSERT(stats.tables == gate_count(result));
        RC_ASSERT(stats.depth == depth(result));
        // The complement of an input or of another output needs an inverter.
        RC_ASSERT(stats.tables <= stats.gates_before + 6);
      }
    }
  }));
}

TEST(Mapping, CoversAChain) {
  for (const auto& [inputs, tables] : {std::pair{3, 8}, {4, 6}, {6, 4}}) {
    const Netlist result = map_to_luts(parity(17), {.inputs = inputs, .keeps_depth = false});
    EXPECT_EQ(gate_count(result), tables) << "a chain of " << inputs;
    EXPECT_FALSE(difference(parity(17), result));
  }
}

TEST(Mapping, MapsAFunctionOfSixInputsToOneTable) {
  MappingStats stats;
  EXPECT_EQ(gate_count(map_to_luts(parity(6), {}, &stats)), 1);
  EXPECT_EQ(stats.tables, 1);
  EXPECT_EQ(stats.depth, 1);
  EXPECT_EQ(stats.gates_before, 5);
  EXPECT_EQ(stats.depth_before, 5);
}

TEST(Mapping, PinsLife) {
  const Netlist life = simplify(harden(life_rule()));
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const int inputs : {2, 3, 4, 6}) {
    MappingStats stats;
    EXPECT_FALSE(difference(life, map_to_luts(life, {.inputs = inputs}, &stats)));
    found.emplace_back(stats.tables, stats.depth);
  }
  EXPECT_EQ(found, (std::vector<std::pair<std::int64_t, std::int64_t>>{
                       {26, 11}, {13, 4}, {9, 4}, {6, 3}}));
}

TEST(Mapping, RejectsTablesThatAreTooLarge) {
  expect_error(
      [] { map_to_luts(parity(3), {.inputs = 7}); },
      "[map_to_luts] expected tables of 2 to 6 inputs and at least 2 cuts, received 7 and 16");
}

}  // namespace
}  // namespace boolgrad::circuit
