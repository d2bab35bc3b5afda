#include "boolgrad/backend/plan/automaton_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/plan/automaton_cells.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

using namespace layout;

/// The shape of a rule, and the wirings that own its wires.
struct Shaped {
  std::vector<logic::WiringPtr> wirings;
  std::vector<LutWires> perceive, update;
  AutomatonShape shape;

  explicit Shaped(const automata::RuleShape& sizes) {
    const automata::Rule rule = automata::Rule::make(
        sizes, Border::zero, Parametrisation::softmax16, DType::float32, {}, 3);
    for (const logic::WiringPtr& wiring : rule.perceive().wirings()) {
      wirings.push_back(wiring);
      perceive.push_back(wiring->view());
    }
    for (const logic::WiringPtr& wiring : rule.update().wirings()) {
      wirings.push_back(wiring);
      update.push_back(wiring->view());
    }
    shape.channels = sizes.channels;
    shape.kernels = sizes.kernels;
    shape.perceive = perceive;
    shape.update = update;
  }
};

struct Interval {
  int begin, words;
};

/// Checks that intervals are aligned to vectors, do not overlap and end below `words`.
void expect_apart(std::vector<Interval> intervals, int words) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  int end = 0;
  for (const Interval& interval : intervals) {
    EXPECT_EQ(interval.begin % 4, 0);
    EXPECT_GE(interval.begin, end);
    end = interval.begin + interval.words;
  }
  EXPECT_LE(end, words);
}

void expect_good_plan(const AutomatonShape& shape, RolloutUse use, int tile) {
  SCOPED_TRACE(testing::Message() << "use " << static_cast<int>(use) << ", tile " << tile);
  const TilePlan tiles = plan_tiles(shape, {.use = use,
                                            .tile = tile,
                                            .cells = 100,
                                            .max_layers = 64,
                                            .max_tree_kernels = 16,
                                            .sum_words = 1024});
  const RulePlan& rule = tiles.rule;
  const WorkOffsets& work = tiles.work;
  EXPECT_EQ(1 << tiles.tile_bits, tile);
  EXPECT_EQ(tiles.columns, tiles.channels * tile);
  EXPECT_GE(tiles.tiles * tile, 100);
  EXPECT_LT((tiles.tiles - 1) * tile, 100);

  std::vector<Interval> acts{{work.patch, neighbourhood * tiles.columns},
                             {work.update_inputs, (1 + rule.kernel_outputs) * tiles.columns}};
  for (std::size_t l = 0; l < rule.layers.size(); ++l) {
    const bool perceives = static_cast<int>(l) < rule.perceive_layers;
    if (perceives && (rule.tree_outputs > 0 || static_cast<int>(l) + 1 == rule.perceive_layers)) {
      continue;
    }
    const int row = perceives ? tiles.columns : tile;
    acts.push_back({rule.layers[l].outputs_at, rule.layers[l].gates * row});
    if (l + 1 < rule.layers.size() && static_cast<int>(l) + 1 != rule.perceive_layers) {
      EXPECT_EQ(rule.layers[l + 1].inputs_at, rule.layers[l].outputs_at);
    }
  }
  expect_apart(acts, work.acts_words);

  std::vector<Interval> all{
      {work.around, neighbourhood * tile}, {work.fires, tile}, {work.acts, work.acts_words}};
  if (use == RolloutUse::training) {
    for (std::size_t l = 0; l < rule.layers.size(); ++l) {
      if (static_cast<int>(l) < rule.perceive_layers) continue;
      EXPECT_LE(work.edges[l & 1] + rule.edge_rows[l] * tile, work.words);
    }
    all.push_back({work.edges[0], tile});
    all.push_back({work.edges[1], tile});
    all.push_back({work.leftover, tiles.columns});
    if (rule.tree_outputs == 0) {
      all.push_back({work.perceive_edges[0], tiles.columns});
      all.push_back({work.perceive_edges[1], tiles.columns});
    } else if (work.staging_in_acts) {
      EXPECT_EQ(work.staging, work.acts + work.update_inputs);
      EXPECT_LE(std::max(1024, tiles.kernels * neighbourhood * tiles.columns),
                work.acts_words - work.update_inputs);
    } else {
      all.push_back({work.staging, tiles.kernels * neighbourhood * tiles.columns});
    }
  }
  expect_apart(all, work.words);
}

TEST(AutomatonTiles, BuffersOfABlockDoNotOverlap) {
  const Shaped trees(
      {.channels = 8, .kernels = 16, .perceive = {8, 4, 2, 1}, .update = {128, 64, 32}});
  const Shaped layers({.channels = 3, .kernels = 2, .perceive = {8, 6}, .update = {20}});
  for (const Shaped* one : {&trees, &layers}) {
    for (const RolloutUse use : {RolloutUse::training, RolloutUse::soft, RolloutUse::hard}) {
      for (int tile = 4; tile <= 64; tile *= 2) expect_good_plan(one->shape, use, tile);
    }
  }
}

TEST(AutomatonTiles, NarrowLayersAreTheFinalOnesThatFitTogether) {
  const Shaped shaped(
      {.channels = 8, .kernels = 16, .perceive = {8, 4, 2, 1}, .update = {128, 64, 32}});
  const RulePlan plan =
      plan_tiles(shaped.shape, {.cells = 10, .max_layers = 64, .max_tree_kernels = 16}).rule;
  const int layers = static_cast<int>(plan.layers.size());  // 4 of perception, then 128, 64, 32, 8
  ASSERT_EQ(layers, 8);
  EXPECT_EQ(narrow_layers_from(plan, 1), layers);
  EXPECT_EQ(narrow_layers_from(plan, 8), layers - 1);
  EXPECT_EQ(narrow_layers_from(plan, 104), layers - 3);
  EXPECT_EQ(narrow_layers_from(plan, 10'000), layers - 3) << "the first layer is none of them";
}

TEST(AutomatonCells, RoundTripThroughTheDeviceLayout) {
  const Shape shape{3, 2, 4, 5};
  const Tensor grid = random_tensor(shape, DType::float32, 1, {.low = 0, .high = 1, .kinks = {}});
  const std::vector<float> cells = to_cells(grid, 2);
  ASSERT_EQ(cells.size(), 120U);
  EXPECT_EQ(cells[3 * 3 + 2], grid.at(2 * 40 + 3)) << "channel 2 of cell 3";
  EXPECT_TRUE(same_bits(from_cells(cells, shape), grid));
  const Tensor bits = from_cell_words(to_cell_words(grid, 2), shape);
  for (std::int64_t i = 0; i < grid.size(); ++i) EXPECT_EQ(bits.at(i), grid.at(i) > 0.5 ? 1 : 0);
}

TEST(AutomatonCells, BroadcastASingleSample) {
  Tensor grid({2, 1, 1, 3}, DType::uint8);
  const std::vector<std::uint8_t> values{1, 0, 1, 0, 1, 0};
  std::ranges::copy(values, grid.mutable_values<std::uint8_t>().begin());
  EXPECT_EQ(to_cells(grid, 2), (std::vector<float>{1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(to_cell_words(grid, 2), (std::vector<std::uint32_t>{0b101101, 0b010010}));
}

}  // namespace
}  // namespace boolgrad
