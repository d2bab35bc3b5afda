#include "boolgrad/circuit/gate_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/core/random.h"
#include "tests/support/messages.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

using Words = std::vector<std::uint64_t>;

/// The outputs of a stack of layers for 64 samples.
Words evaluated(const std::vector<LayerGates>& layers, Words values) {
  for (const LayerGates& layer : layers) {
    Words next;
    for (const NetlistGate& gate : layer) {
      std::uint64_t word = 0;
      for (std::uint64_t sample = 0; sample < 64; ++sample) {
        std::uint64_t entry = 0;
        for (std::size_t j = 0; j < gate.arity; ++j) {
          entry |= (values.at(gate.inputs[j]) >> sample & 1) << j;
        }
        word |= (gate.truth >> entry & 1) << sample;
      }
      next.push_back(word);
    }
    values = std::move(next);
  }
  return values;
}

Words random_words(std::size_t count, std::uint64_t seed) {
  Words words;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = random_bits({.seed = seed, .stream = 1, .index = i});
    words.push_back(std::uint64_t{bits[0]} << 32 | bits[1]);
  }
  return words;
}

std::vector<std::size_t> widths(const std::vector<LayerGates>& layers) {
  std::vector<std::size_t> result;
  for (const LayerGates& layer : layers) result.push_back(layer.size());
  return result;
}

/// y0 = (a & b) ^ c, y1 = c, y2 = a & b, y3 = y0.
Netlist small() {
  return checked({.name = "small",
                  .inputs = {"a", "b", "c"},
                  .outputs = {"y0", "y1", "y2", "y3"},
                  .gates = {{.truth = 0b1000, .inputs = {0, 1}, .arity = 2},
                            {.truth = 0b0110, .inputs = {3, 2}, .arity = 2}},
                  .output_nets = {4, 2, 3, 4},
                  .state = std::nullopt});
}

TEST(GateLayers, HaveGatesByLevelAndCarryOtherValues) {
  const auto layers = layers_of(small());
  ASSERT_EQ(widths(layers), (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(layers[0][0], (NetlistGate{.truth = 0b1000, .inputs = {0, 1}, .arity = 2}));
  EXPECT_EQ(layers[0][1], (NetlistGate{.truth = 0b10, .inputs = {2}, .arity = 1}));
  EXPECT_EQ(layers[1][0], (NetlistGate{.truth = 0b0110, .inputs = {0, 1}, .arity = 2}));
  EXPECT_EQ(layers[1][1], (NetlistGate{.truth = 0b10, .inputs = {1}, .arity = 1}));
  EXPECT_EQ(layers[1][2], (NetlistGate{.truth = 0b10, .inputs = {0}, .arity = 1}));
  EXPECT_EQ(layers[1][3], layers[1][0]) << "a gate that drives two outputs is repeated";
}

TEST(GateLayers, BeyondTheDepthPassTheOutputsThrough) {
  const auto layers = layers_of(small(), 4);
  EXPECT_EQ(widths(layers), (std::vector<std::size_t>{2, 3, 3, 4}));
  const Words in = random_words(3, 1);
  EXPECT_EQ(evaluated(layers, in), evaluate(small(), in));
}

TEST(GateLayers, FoldConstantsButKeepTablesThatHappenToBeConstant) {
  // g0 = 1, g1 = (a ^ g0), g2 = 0 for all a and b, g3 = g2 | g1.
  const Netlist netlist = checked({.name = "constants",
                                   .inputs = {"a", "b"},
                                   .outputs = {"y", "one"},
                                   .gates = {{.truth = 1, .inputs = {}, .arity = 0},
                                             {.truth = 0b0110, .inputs = {0, 2}, .arity = 2},
                                             {.truth = 0, .inputs = {0, 1}, .arity = 2},
                                             {.truth = 0b1110, .inputs = {4, 3}, .arity = 2}},
                                   .output_nets = {5, 2},
                                   .state = std::nullopt});
  const auto layers = layers_of(netlist);
  ASSERT_EQ(widths(layers), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(layers[0][0], (NetlistGate{.truth = 0b01, .inputs = {0}, .arity = 1}));
  EXPECT_EQ(layers[0][1], (NetlistGate{.truth = 0, .inputs = {0, 1}, .arity = 2}));
  EXPECT_EQ(layers[1][1], (NetlistGate{.truth = 1, .inputs = {}, .arity = 0}));
  const Words in = random_words(2, 1);
  EXPECT_EQ(evaluated(layers, in), evaluate(netlist, in));
}

TEST(GateLayers, OfAnyNetlistComputeTheSame) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Netlist netlist = random_netlist(1 + seed % 9, seed % 3 == 0 ? 5 : 120, 7, 6, seed);
    const Words in = random_words(netlist.inputs.size(), seed);
    const Words wanted = evaluate(netlist, in);
    for (const std::size_t min_layers : {1U, 3U, 30U}) {
      const auto layers = layers_of(netlist, min_layers);
      EXPECT_EQ(layers.size(), std::max<std::size_t>(layers_of(netlist).size(), min_layers));
      EXPECT_EQ(evaluated(layers, in), wanted) << "seed " << seed;
    }
  }
}

TEST(GateLayers, LeaveOutWhatNoOutputDependsOn) {
  Netlist netlist = small();
  netlist.gates.push_back({.truth = 0b1, .inputs = {4, 0}, .arity = 2});
  EXPECT_EQ(layers_of(checked(netlist)), layers_of(small()));
}

TEST(GateLayers, OfDeepCircuitsAreLimited) {
  Netlist chain;
  constexpr Net width = 5000;
  for (Net i = 0; i < width; ++i) chain.inputs.push_back("x" + std::to_string(i));
  for (Net i = 0; i < width; ++i) {
    chain.gates.push_back({.truth = 0b0110, .inputs = {i == 0 ? 0 : width + i - 1, i}, .arity = 2});
  }
  chain.outputs = {"y"};
  chain.output_nets = {2 * width - 1};
  EXPECT_NO_THROW(layers_of(checked(chain)));
  expect_error([&] { layers_of(chain, 20000000); },
               "[layers] expected a circuit of at most 16777216 gates in layers, received "
               "32497500 in 20000000 layers");
}

}  // namespace
}  // namespace boolgrad::circuit
