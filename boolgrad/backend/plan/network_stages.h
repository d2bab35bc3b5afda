// The stages of a network: layers that kernels compute at once.
//
// A convolution of two-input gates is several layers, whose kernels keep gates and pool in
// registers: for each pooled output, the leaves are read once. The values of inner layers are never
// stored. Every other layer is a stage of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/backend/plan/network_layout.h"

namespace boolgrad {

using layout::max_tree_levels;
using layout::max_tree_pool;

/// Trees of two-input gates, one per kernel and position. Gate i of a level reads gates 2 i and
/// 2 i + 1 of the level below. Kernel k has a tree of `levels` levels; its root at position p is
/// root k * positions + p.
struct GateTrees {
  std::int64_t inputs = 0;
  std::int64_t positions = 1;  ///< of every kernel
  int levels = 1;
  std::span<const std::int32_t> sources = {};  ///< [gates of the first level, 2]
  /// [gates of the first level], or empty: bit j is 1 if input j lies outside of the image.
  std::span<const std::uint8_t> outside = {};
  std::int64_t outputs = 0;
  /// [outputs, pool]: the roots of each output, all of one kernel and each read once. Empty: the
  /// outputs are the roots.
  std::span<const std::int32_t> pooled = {};
  std::int64_t pool = 1;
  bool first_wins = false;  ///< as in `LutWires`

  std::int64_t leaves() const { return std::int64_t{1} << levels; }
  std::int64_t kernels() const {
    return static_cast<std::int64_t>(sources.size()) / (leaves() * positions);
  }
  /// Root `i` of an output.
  std::int64_t root(std::int64_t output, std::int64_t i) const {
    return pooled.empty() ? output : pooled[static_cast<std::size_t>(output * pool + i)];
  }
};

/// Consecutive layers that are computed at once. A view, valid as long as the wires exist.
struct NetworkStage {
  std::size_t first = 0;  ///< its first layer
  std::size_t layers = 1;
  std::optional<GateTrees> trees = {};

  std::size_t end() const { return first + layers; }
  std::size_t last() const { return end() - 1; }
};

/// Splits layers into stages. Unless `fuses`, every layer is a stage of its own.
std::vector<NetworkStage> network_stages(std::span<const LutWires> layers, bool fuses = true);

}  // namespace boolgrad
