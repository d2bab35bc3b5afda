#include "boolgrad/automata/rule_netlist.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "boolgrad/core/random.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/life_rule.h"
#include "tests/support/op_cases.h"
#include "tests/support/random_words.h"

namespace boolgrad::automata {
namespace {

TEST(HardenRule, ComputesOneStepOfACell) {
  EXPECT_TRUE(rc::check("netlist and circuit agree", [](std::uint64_t seed) {
    Choices choose(seed);
    const RuleShape shape{.channels = choose.between(1, 4),
                          .kernels = choose.between(1, 3),
                          .perceive = {8, 4, 2},
                          .update = {choose.between(6, 20)}};
    const Rule rule = Rule::make(shape, Border::zero, Parametrisation::softmax16, DType::float32,
                                 {logic::Initialisation::gaussian, 1}, seed % 10000);
    const circuit::Netlist netlist = harden(rule);
    const auto words = random_words(netlist.inputs.size(), seed);
    RC_ASSERT(evaluate(netlist, words) == hardened_circuit(rule).evaluate(words));
    RC_ASSERT(netlist.state == (circuit::NetlistState{shape.channels, Border::zero}));
  }));
}

TEST(HardenRule, NamesNeighboursAndChannels) {
  const circuit::Netlist netlist = harden(life_rule());
  EXPECT_EQ(netlist.inputs[4], "c0_n4");
  EXPECT_EQ(netlist.outputs, std::vector<std::string>{"c0"});
  EXPECT_EQ(netlist.gates.size(), 11U);
  EXPECT_EQ(netlist.state, (circuit::NetlistState{1, Border::periodic}));
  const circuit::BitCircuit life = life_circuit();
  for (std::uint64_t block = 0; block < 8; ++block) {
    const auto words = all_cases(9, block);
    EXPECT_EQ(evaluate(netlist, words), life.evaluate(words));
  }
}

}  // namespace
}  // namespace boolgrad::automata
