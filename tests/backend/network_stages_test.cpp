#include "boolgrad/backend/plan/network_stages.h"

#include <gtest/gtest.h>

#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/logic/convolution.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/wiring.h"
#include "tests/support/convolution_networks.h"

namespace boolgrad {
namespace {

struct Planned {
  explicit Planned(logic::Network made) : network(std::move(made)) {
    for (const logic::GateLayer& layer : network.layers()) layers.push_back(layer.wiring->view());
    stages = network_stages(layers);
  }
  logic::Network network;
  std::vector<LutWires> layers;
  std::vector<NetworkStage> stages;
};

Planned convolution(const logic::ConvolutionOptions& options) {
  logic::Network network(7 * 6, Parametrisation::sigmoid);
  add_convolution(network, {.channels = 1, .height = 7, .width = 6}, options, 1);
  network.add_layer({.gates = 10, .seed = 1, .initialisation = random_tables});
  return Planned(std::move(network));
}

TEST(NetworkStages, JoinTheLayersOfAConvolution) {
  const Planned planned =
      convolution({.kernels = 3, .window = 3, .padding = 1, .depth = 3, .pool = 2});
  ASSERT_EQ(planned.stages.size(), 2U);
  EXPECT_EQ(planned.stages[0].layers, 4U);
  ASSERT_TRUE(planned.stages[0].trees);
  const GateTrees& trees = *planned.stages[0].trees;
  EXPECT_EQ(trees.kernels(), 3);
  EXPECT_EQ(trees.leaves(), 8);
  EXPECT_EQ(trees.positions, 7 * 6);
  EXPECT_EQ(trees.pool, 4);
  EXPECT_EQ(trees.outputs, 3 * 3 * 3);
  EXPECT_EQ(trees.root(10, 2), planned.layers[3].sources[42]);
  EXPECT_EQ(planned.stages[1].first, 4U);
  EXPECT_FALSE(planned.stages[1].trees);
}

TEST(NetworkStages, WithoutPoolingTheRootsAreTheOutputs) {
  const Planned planned = convolution({.kernels = 2, .window = 3, .depth = 2, .pool = 1});
  ASSERT_TRUE(planned.stages[0].trees);
  EXPECT_EQ(planned.stages[0].layers, 2U);
  EXPECT_EQ(planned.stages[0].trees->outputs, planned.layers[1].gates);
  EXPECT_EQ(planned.stages[0].trees->root(5, 0), 5);
}

TEST(NetworkStages, LargeSquaresArePooledWithinRowsByTheTree) {
  const Planned planned = convolution({.kernels = 2, .window = 1, .depth = 1, .pool = 3});
  ASSERT_EQ(planned.stages.size(), 3U);
  EXPECT_EQ(planned.stages[0].layers, 2U);
  EXPECT_EQ(planned.stages[0].trees->pool, 3);
  EXPECT_TRUE(planned.layers[planned.stages[1].first].pools);
  EXPECT_FALSE(planned.stages[1].trees);
}

TEST(NetworkStages, OtherGatesAreStagesOfTheirOwn) {
  const Planned planned =
      convolution({.kernels = 2, .window = 3, .depth = 2, .arity = 3, .pool = 2});
  ASSERT_EQ(planned.stages.size(), planned.layers.size());
  for (const NetworkStage& stage : planned.stages) EXPECT_FALSE(stage.trees);
}

TEST(NetworkStages, WithoutFusionEveryLayerIsAStage) {
  const Planned planned = convolution({.kernels = 3, .window = 3, .depth = 3, .pool = 2});
  const std::vector<NetworkStage> stages = network_stages(planned.layers, false);
  ASSERT_EQ(stages.size(), planned.layers.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    EXPECT_EQ(stages[i].first, i);
    EXPECT_EQ(stages[i].layers, 1U);
    EXPECT_FALSE(stages[i].trees);
  }
}

TEST(NetworkStages, ConvolutionsFollowEachOther) {
  logic::Network network(8 * 8, Parametrisation::sigmoid);
  const logic::ConvolutionOptions options{.kernels = 4, .window = 3, .padding = 1, .depth = 2};
  const logic::ImageSize image =
      add_convolution(network, {.channels = 1, .height = 8, .width = 8}, options, 1);
  add_convolution(network, image, options, 1);
  const Planned planned(std::move(network));
  ASSERT_EQ(planned.stages.size(), 2U);
  EXPECT_EQ(planned.stages[1].first, 3U);
  EXPECT_EQ(planned.stages[1].end(), planned.layers.size());
}

}  // namespace
}  // namespace boolgrad
