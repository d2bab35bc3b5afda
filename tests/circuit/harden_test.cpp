#include "boolgrad/circuit/harden.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/dot.h"
#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/logic/knockout.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/op_cases.h"
#include "tests/support/random_words.h"

namespace boolgrad::circuit {
namespace {

logic::Network random_network(std::int64_t inputs, int arity, std::uint64_t seed) {
  logic::Network network(inputs, Parametrisation::sigmoid);
  for (const std::int64_t gates : {20, 12, 5}) {
    network.add_layer({.gates = gates, .arity = arity, .seed = seed});
  }
  return network;
}

TEST(Harden, AgreesWithTheHardNetwork) {
  EXPECT_TRUE(rc::check("any arity, with and without masks", [](std::uint64_t seed) {
    Choices choose(seed);
    const auto arity = static_cast<int>(choose.between(1, 6));
    logic::Network network = random_network(choose.between(6, 10), arity, seed);
    if (choose.below(2) == 0) {
      network.set_input_mask(logic::block_knockout(network.inputs(), 2, 3, DType::float32));
      network.set_mask(1, logic::block_knockout(12, choose.below(9), 3, DType::float32));
    }
    const logic::BitMatrix x{network.inputs(), 64,
                             random_words(static_cast<std::size_t>(network.inputs()), seed)};
    const auto expected = network.hard(x).words;
    RC_ASSERT(evaluate(harden(network), x.words) == expected);
    RC_ASSERT(hardened_circuit(network).evaluate(x.words) == expected);
  }));
}

TEST(Harden, KeepsEveryGateAndNamesInputsAndOutputs) {
  const Netlist netlist = harden(random_network(6, 3, 1));
  EXPECT_EQ(netlist.gates.size(), 37U);
  EXPECT_EQ(netlist.inputs, (std::vector<std::string>{"x0", "x1", "x2", "x3", "x4", "x5"}));
  EXPECT_EQ(netlist.outputs, (std::vector<std::string>{"y0", "y1", "y2", "y3", "y4"}));
  EXPECT_EQ(depth(netlist), 3);
  EXPECT_FALSE(netlist.state);
}

TEST(Harden, TheNetlistWritesItselfInEveryFormat) {
  const Netlist netlist = harden(random_network(4, 2, 1));
  EXPECT_EQ(netlist.to_verilog(), to_verilog(netlist).design);
  EXPECT_EQ(netlist.to_c(), to_c(netlist));
  EXPECT_EQ(netlist.to_html(), to_html(netlist));
  EXPECT_EQ(netlist_from_text(netlist.to_text(), "text"), netlist);
  EXPECT_TRUE(agree(netlist_from_blif(netlist.to_blif(), "blif"), netlist));
  EXPECT_TRUE(agree(netlist_from_aiger(netlist.to_aiger(), "aiger"), netlist));
  EXPECT_EQ(netlist.to_dot(), to_dot(netlist));
}

}  // namespace
}  // namespace boolgrad::circuit
