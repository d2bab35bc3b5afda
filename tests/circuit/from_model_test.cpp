#include "boolgrad/circuit/from_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "boolgrad/logic/knockout.h"
#include "tests/support/op_cases.h"

namespace boolgrad {
namespace {

LogicNetwork random_network(std::int64_t inputs, int arity, std::uint64_t seed) {
  LogicNetwork network(inputs, Parametrisation::sigmoid, DType::float32);
  std::int64_t below = inputs;
  for (const std::int64_t gates : {20, 12, 5}) {
    const auto layer = static_cast<std::uint32_t>(network.layers().size());
    network.add_layer(random_wiring({below, gates, arity}, seed, layer),
                      initial_logits(Parametrisation::sigmoid, gates, arity, DType::float32,
                                     {Initialisation::gaussian, 1}, seed, layer));
    below = gates;
  }
  return network;
}

std::vector<std::uint64_t> random_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bits = random_bits({.seed = seed, .index = i});
    words.push_back(std::uint64_t{bits[0]} << 32 | bits[1]);
  }
  return words;
}

TEST(NetlistOfNetwork, ComputesWhatTheHardNetworkDoes) {
  EXPECT_TRUE(rc::check("any number of inputs a gate, masks or not", [](std::uint64_t seed) {
    Choices choose(seed);
    const auto arity = static_cast<int>(choose.between(1, 6));
    LogicNetwork network = random_network(choose.between(6, 10), arity, seed);
    if (choose.below(2) == 0) {
      network.set_input_mask(block_knockout(network.inputs(), 2, 3, DType::float32));
      network.set_mask(1, block_knockout(12, choose.below(9), 3, DType::float32));
    }
    const BitMatrix x{network.inputs(), 64,
                      random_words(static_cast<std::size_t>(network.inputs()), seed)};
    const auto expected = network.hard(x).words;
    RC_ASSERT(evaluate(netlist_of(network), x.words) == expected);
    RC_ASSERT(hardened_circuit(network).evaluate(x.words) == expected);
  }));
}

TEST(NetlistOfNetwork, KeepsEveryGateAndNamesWhatGoesInAndOut) {
  const Netlist netlist = netlist_of(random_network(6, 3, 1));
  EXPECT_EQ(netlist.gates.size(), 37U);
  EXPECT_EQ(netlist.inputs, (std::vector<std::string>{"x0", "x1", "x2", "x3", "x4", "x5"}));
  EXPECT_EQ(netlist.outputs, (std::vector<std::string>{"y0", "y1", "y2", "y3", "y4"}));
  EXPECT_EQ(depth(netlist), 3);
  EXPECT_FALSE(netlist.state);
}

}  // namespace
}  // namespace boolgrad
