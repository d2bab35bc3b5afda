#include "boolgrad/backend/plan/network_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/logic/network.h"
#include "tests/support/convolution_networks.h"

namespace boolgrad {
namespace {

using Indices = std::vector<std::int32_t>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

struct PlannedTrees {
  explicit PlannedTrees(const logic::ConvolutionOptions& options, std::int64_t sections)
      : network(2 * 7 * 6, Parametrisation::sigmoid) {
    add_convolution(network, {.channels = 2, .height = 7, .width = 6}, options, 1);
    for (const logic::GateLayer& layer : network.layers()) layers.push_back(layer.wiring->view());
    trees = *network_stages(layers).front().trees;
    plan = plan_trees(trees, sections);
  }
  logic::Network network;
  std::vector<LutWires> layers;
  GateTrees trees;
  TreePlan plan;
};

/// Trees of all depths, with and without padding and pooling.
std::vector<PlannedTrees> all_trees() {
  std::vector<PlannedTrees> all;
  all.emplace_back(logic::ConvolutionOptions{.kernels = 3, .padding = 1, .depth = 3, .pool = 2}, 4);
  all.emplace_back(logic::ConvolutionOptions{.kernels = 2, .depth = 1, .pool = 1}, 100);
  all.emplace_back(logic::ConvolutionOptions{.kernels = 2, .window = 2, .stride = 2, .depth = 2},
                   1);
  all.emplace_back(logic::ConvolutionOptions{.kernels = 5, .padding = 2, .depth = 4, .pool = 3}, 2);
  return all;
}

TEST(TreePlan, HasEveryOutputOnceByKernel) {
  for (const PlannedTrees& one : all_trees()) {
    Indices outputs = one.plan.outputs;
    std::ranges::sort(outputs);
    Indices all(index(one.trees.outputs));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(outputs, all);
    EXPECT_TRUE(std::ranges::is_sorted(one.plan.kernels));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(one.plan.kernels[i], one.trees.root(one.plan.outputs[i], 0) / one.trees.positions);
    }
  }
}

TEST(TreePlan, SectionsDivideTheOutputsOfKernels) {
  for (const PlannedTrees& one : all_trees()) {
    const TreePlan& plan = one.plan;
    ASSERT_EQ(std::ssize(plan.first_section), one.trees.kernels() + 1);
    EXPECT_EQ(plan.first_section.back(), std::ssize(plan.sections));
    std::int32_t next = 0;
    for (std::size_t kernel = 0; kernel + 1 < plan.first_section.size(); ++kernel) {
      for (std::int32_t s = plan.first_section[kernel]; s < plan.first_section[kernel + 1]; ++s) {
        const layout::TreeSection& section = plan.sections[index(s)];
        EXPECT_EQ(section.kernel, static_cast<std::int32_t>(kernel));
        EXPECT_EQ(section.begin, next);
        EXPECT_LT(section.begin, section.end);
        next = section.end;
        for (std::int32_t i = section.begin; i < section.end; ++i) {
          EXPECT_EQ(plan.kernels[index(i)], section.kernel);
        }
      }
    }
    EXPECT_EQ(next, one.trees.outputs);
  }
}

TEST(TreePlan, LeavesReadTheInputsOfTheFirstLevel) {
  for (const PlannedTrees& one : all_trees()) {
    const GateTrees& trees = one.trees;
    const LutWires& first = one.layers.front();
    ASSERT_EQ(std::ssize(one.plan.leaves), trees.outputs * trees.pool * trees.leaves());
    std::size_t row = 0;
    for (const std::int32_t output : one.plan.outputs) {
      for (std::int64_t i = 0; i < trees.pool; ++i) {
        // Down the tree to each leaf, by the wires of the layers.
        for (std::int64_t leaf = 0; leaf < trees.leaves(); ++leaf, ++row) {
          std::int64_t gate = trees.root(output, i);
          for (int level = trees.levels - 1; level > 0; --level) {
            gate = one.layers[index(level)].sources[index(2 * gate + (leaf >> level & 1))];
          }
          const bool is_outside =
              !first.outside.empty() && ((first.outside[index(gate)] >> (leaf & 1)) & 1) != 0;
          EXPECT_EQ(one.plan.leaves[row],
                    is_outside ? -1 : first.sources[index(2 * gate + (leaf & 1))]);
        }
      }
    }
  }
}

TEST(TreePlan, EveryLeafRowInsideOfTheImageBelongsToItsInput) {
  for (const PlannedTrees& one : all_trees()) {
    const TreePlan& plan = one.plan;
    ASSERT_EQ(std::ssize(plan.first_leaf_row), one.trees.inputs + 1);
    for (std::size_t input = 0; input + 1 < plan.first_leaf_row.size(); ++input) {
      for (std::int32_t i = plan.first_leaf_row[input]; i < plan.first_leaf_row[input + 1]; ++i) {
        EXPECT_EQ(plan.leaves[index(plan.leaf_rows[index(i)])], static_cast<std::int32_t>(input));
      }
    }
    EXPECT_EQ(std::ssize(plan.leaf_rows),
              std::ranges::count_if(plan.leaves, [](std::int32_t input) { return input >= 0; }));
  }
}

}  // namespace
}  // namespace boolgrad
