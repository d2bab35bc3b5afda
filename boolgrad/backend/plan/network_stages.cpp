#include "boolgrad/backend/plan/network_stages.h"

namespace boolgrad {
namespace {

/// Whether gate i of a table reads gates 2 i and 2 i + 1 of the tables below, at its own position.
bool is_tree_level(const LutWires& wires, std::int64_t positions) {
  if (wires.pools || wires.arity != 2 || wires.positions != positions) return false;
  if (wires.inputs != 2 * wires.gates || !wires.outside.empty() || wires.learns_wires()) {
    return false;
  }
  for (std::int64_t gate = 0; gate < wires.gates; ++gate) {
    const std::int64_t below = gate / positions * 2 * positions + gate % positions;
    const std::int32_t* source = wires.sources.data() + 2 * gate;
    if (source[0] != below || source[1] != below + positions) return false;
  }
  return true;
}

/// Whether every output is a maximum of positions of one kernel, and no position is read twice.
bool pools_kernels(const LutWires& wires, std::int64_t positions) {
  if (!wires.pools || wires.arity > max_tree_pool) return false;
  const auto arity = static_cast<std::size_t>(wires.arity);
  for (std::size_t i = 0; i < wires.sources.size(); ++i) {
    if (wires.sources[i] / positions != wires.sources[i / arity * arity] / positions) return false;
  }
  for (std::size_t i = 0; i + 1 < wires.first_consumer.size(); ++i) {
    if (wires.first_consumer[i + 1] - wires.first_consumer[i] > 1) return false;
  }
  return true;
}

/// The longest stage that starts with layer `first`.
NetworkStage stage_at(std::span<const LutWires> layers, std::size_t first) {
  const LutWires& leaves = layers[first];
  NetworkStage stage{.first = first};
  if (leaves.pools || leaves.has_own_tables() || leaves.arity != 2) return stage;
  std::size_t end = first + 1;
  while (end < layers.size() && end < first + max_tree_levels &&
         is_tree_level(layers[end], leaves.positions)) {
    ++end;
  }
  stage.trees = GateTrees{.inputs = leaves.inputs,
                          .positions = leaves.positions,
                          .levels = static_cast<int>(end - first),
                          .sources = leaves.sources,
                          .outside = leaves.outside,
                          .outputs = layers[end - 1].gates};
  if (end < layers.size() && pools_kernels(layers[end], leaves.positions)) {
    stage.trees->outputs = layers[end].gates;
    stage.trees->pooled = layers[end].sources;
    stage.trees->pool = layers[end].arity;
    stage.trees->first_wins = layers[end].first_wins;
    ++end;
  }
  stage.layers = end - first;
  return stage;
}

}  // namespace

std::vector<NetworkStage> network_stages(std::span<const LutWires> layers, bool fuses) {
  std::vector<NetworkStage> stages;
  for (std::size_t layer = 0; layer < layers.size(); layer = stages.back().end()) {
    stages.push_back(fuses ? stage_at(layers, layer) : NetworkStage{.first = layer});
  }
  return stages;
}

}  // namespace boolgrad
