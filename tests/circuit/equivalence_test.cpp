#include "boolgrad/circuit/proof/equivalence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "boolgrad/automata/rule_netlist.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

constexpr EquivalenceParams by_sat{.max_exhaustive_inputs = 0};

/// A conjunction of all inputs, as a chain from the first to the last or in reverse.
Netlist chain(std::size_t inputs, bool backwards) {
  Netlist netlist;
  for (std::size_t i = 0; i < inputs; ++i) netlist.inputs.push_back(fmt::format("x{}", i));
  Net last = netlist.input(backwards ? inputs - 1 : 0);
  for (std::size_t i = 1; i < inputs; ++i) {
    const Net next = netlist.input(backwards ? inputs - 1 - i : i);
    netlist.gates.push_back({.truth = 0b1000, .inputs = {last, next}, .arity = 2});
    last = netlist.gate(i - 1);
  }
  netlist.outputs = {"all"};
  netlist.output_nets = {last};
  return checked(std::move(netlist));
}

std::vector<std::uint64_t> outputs_for(const Netlist& netlist, const std::vector<bool>& inputs) {
  std::vector<std::uint64_t> words;
  for (const bool value : inputs) words.push_back(value ? ~0ULL : 0);
  return evaluate(netlist, words);
}

TEST(Equivalence, SimulatesFewInputsExhaustively) {
  EquivalenceStats stats;
  EXPECT_FALSE(difference(chain(20, false), chain(20, true), {}, &stats));
  EXPECT_TRUE(stats.exhaustive);
  EXPECT_EQ(stats.solver_calls, 0);
}

TEST(Equivalence, UsesTheSolverForManyInputs) {
  EquivalenceStats stats;
  EXPECT_FALSE(difference(chain(40, false), chain(40, true), {}, &stats));
  EXPECT_FALSE(stats.exhaustive);
  EXPECT_GT(stats.solver_calls, 0);
}

// One combination of 2^40, which random simulation would not find.
TEST(Equivalence, FindsTheOnlyCounterexample) {
  for (const std::size_t inputs : {20U, 40U}) {
    Netlist never = chain(inputs, false);
    never.gates.back().truth = 0;
    const auto found = difference(chain(inputs, true), never);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->inputs, std::vector<bool>(inputs, true));
    EXPECT_EQ(found->output, 0U);
  }
}

TEST(Equivalence, BothMethodsAgree) {
  EXPECT_TRUE(rc::check("on a table with one changed entry", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(9, 40, 4, 5, seed);
    Netlist changed = netlist;
    NetlistGate& gate = changed.gates[seed % 40];
    gate.truth ^= std::uint64_t{1} << (seed / 40 % (1U << gate.arity));
    RC_ASSERT(!difference(netlist, netlist, by_sat));
    const auto all = difference(netlist, changed);
    const auto sat = difference(netlist, changed, by_sat);
    RC_ASSERT(all.has_value() == sat.has_value());
    if (!sat) return;
    for (const auto& found : {*all, *sat}) {
      RC_ASSERT(found.inputs.size() == 9U);
      RC_ASSERT(outputs_for(netlist, found.inputs)[found.output] !=
                outputs_for(changed, found.inputs)[found.output]);
    }
  }));
}

TEST(Equivalence, HandlesNetlistsWithoutInputs) {
  const Netlist zero = checked({"", {}, {"y"}, {{.truth = 0}}, {0}, {}});
  const Netlist one = checked({"", {}, {"y"}, {{.truth = 1}}, {0}, {}});
  for (const EquivalenceParams& params : {EquivalenceParams{}, by_sat}) {
    EXPECT_FALSE(difference(zero, zero, params));
    EXPECT_TRUE(difference(zero, one, params));
  }
}

TEST(Equivalence, ReportsTheCounterexample) {
  const Netlist life = harden(life_rule());
  EXPECT_NO_THROW(expect_equivalent(life, life, "the file"));
  Netlist changed = life;
  changed.gates.back().truth = 0;
  expect_error(
      [&] { expect_equivalent(life, changed, "the file"); },
      "[equivalence] the file is not equivalent: the circuits differ at output c0 for input "
      "111000000");
}

TEST(Equivalence, RejectsDifferentNumbersOfInputs) {
  expect_error([] { difference(chain(8, true), chain(9, true)); },
               "[equivalence] expected equal numbers of inputs and outputs, received 8 and 1 "
               "versus 9 and 1");
}

}  // namespace
}  // namespace boolgrad::circuit
