#include "boolgrad/backend/plan/automaton_tiles.h"

#include <algorithm>
#include <array>
#include <bit>

#include "boolgrad/backend/plan/automaton_cells.h"

namespace boolgrad {

using namespace layout;

namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Assigns offsets to the patch, the inputs of the update, and the outputs of all layers.
void place_activations(TilePlan& tiles) {
  RulePlan& rule = tiles.rule;
  WorkOffsets& work = tiles.work;
  WordOffsets acts;
  work.patch = acts.take(std::int64_t{neighbourhood} * tiles.columns);
  int inputs_at = work.patch;
  for (int l = 0; l < rule.perceive_layers; ++l) {
    Layer& layer = rule.layers[index(l)];
    layer.inputs_at = inputs_at;
    if (l + 1 == rule.perceive_layers || rule.tree_outputs > 0) continue;
    layer.outputs_at = acts.take(std::int64_t{layer.gates} * tiles.columns);
    inputs_at = layer.outputs_at;
  }
  work.update_inputs = acts.take(std::int64_t{1 + rule.kernel_outputs} * tiles.columns);
  rule.layers[index(rule.perceive_layers - 1)].outputs_at = work.update_inputs + tiles.columns;
  inputs_at = work.update_inputs;
  for (std::size_t l = index(rule.perceive_layers); l < rule.layers.size(); ++l) {
    rule.layers[l].inputs_at = inputs_at;
    rule.layers[l].outputs_at = acts.take(std::int64_t{rule.layers[l].gates} << tiles.tile_bits);
    inputs_at = rule.layers[l].outputs_at;
  }
  work.acts_words = acts.words();
}

/// Assigns offsets to the edges. Layers alternate between two buffers, because the edges of a
/// layer's inputs are written while those of its outputs are read.
void place_edges(TilePlan& tiles, WordOffsets& words, std::int64_t sum_words) {
  const RulePlan& rule = tiles.rule;
  WorkOffsets& work = tiles.work;
  std::array<std::int64_t, 2> rows{1, 1};  // row 0 always exists
  std::array<std::int64_t, 2> perceive_rows{1, 1};
  for (std::size_t l = 0; l < rule.layers.size(); ++l) {
    auto& max_rows = l < index(rule.perceive_layers) ? perceive_rows : rows;
    max_rows[l & 1] = std::max<std::int64_t>(max_rows[l & 1], rule.edge_rows[l]);
  }
  auto& above = rows[rule.layers.size() & 1];
  above = std::max<std::int64_t>(above, 1 + tiles.channels);
  for (std::size_t i = 0; i < 2; ++i) work.edges[i] = words.take(rows[i] << tiles.tile_bits);
  work.leftover = words.take(tiles.columns);
  work.perceive_edges[0] = -1;
  if (rule.tree_outputs > 0) {
    // The gradients of the patches reuse the memory of activations that are no longer needed.
    const std::int64_t needed =
        std::max(sum_words, std::int64_t{tiles.kernels} * neighbourhood * tiles.columns);
    work.staging_in_acts = needed <= work.acts_words - work.update_inputs;
    work.staging = work.staging_in_acts ? work.acts + work.update_inputs : words.take(needed);
  } else {
    for (std::size_t i = 0; i < 2; ++i) {
      work.perceive_edges[i] = words.take(perceive_rows[i] * tiles.columns);
    }
  }
}

}  // namespace

TilePlan plan_tiles(const AutomatonShape& shape, const TileOptions& options) {
  constexpr int words_on_all_banks = 32;
  TilePlan tiles;
  tiles.rule = plan_rule({shape.channels, shape.kernels, shape.perceive, shape.update},
                         {.layers = options.max_layers,
                          .tree_kernels = options.max_tree_kernels,
                          .classes = std::max(1, words_on_all_banks / options.tile)});
  tiles.channels = static_cast<int>(shape.channels);
  tiles.kernels = static_cast<int>(shape.kernels);
  tiles.cells = options.cells;
  tiles.tile = options.tile;
  tiles.tile_bits = std::countr_zero(static_cast<unsigned>(options.tile));
  tiles.tiles = (options.cells + options.tile - 1) / options.tile;
  tiles.columns = tiles.channels * options.tile;
  tiles.column_bits = std::has_single_bit(static_cast<unsigned>(tiles.columns))
                          ? std::countr_zero(static_cast<unsigned>(tiles.columns))
                          : -1;
  tiles.width = tiles.rule.update_width();
  place_activations(tiles);
  WordOffsets words;
  const int cells_per_column = options.use == RolloutUse::hard ? cells_per_word : 1;
  tiles.work.around = words.take(std::int64_t{neighbourhood} * options.tile * cells_per_column);
  tiles.work.fires = words.take(options.tile);
  tiles.work.acts = words.take(tiles.work.acts_words);
  if (options.use == RolloutUse::training) place_edges(tiles, words, options.sum_words);
  tiles.work.words = words.words();
  return tiles;
}

int narrow_layers_from(const RulePlan& plan, int threads) {
  int first = static_cast<int>(plan.layers.size());
  int gates = 0;
  while (first > plan.perceive_layers + 1) {
    gates += plan.layers[index(first - 1)].gates;
    if (gates > threads) break;
    --first;
  }
  return first;
}

}  // namespace boolgrad
