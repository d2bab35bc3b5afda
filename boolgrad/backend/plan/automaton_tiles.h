// Tiling of the cells of an automaton and the memory layout of a thread block, for kernels that run
// a whole rollout in one launch. Runs on the host.
#pragma once

#include <cstdint>

#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/plan/automaton_layout.h"
#include "boolgrad/backend/plan/automaton_plan.h"

namespace boolgrad {

/// The purpose of a rollout: training, or evaluation of the soft or hardened rule.
enum class RolloutUse : std::uint8_t { training, soft, hard };

/// Allocates offsets in words, aligned to 16 bytes.
class WordOffsets {
 public:
  int take(std::int64_t words) {
    const auto offset = static_cast<int>(at_);
    at_ += (words + 3) / 4 * 4;
    return offset;
  }
  int words() const { return static_cast<int>(at_); }

 private:
  std::int64_t at_ = 0;
};

/// The layout of a rule for tiles of cells.
struct TilePlan {
  RulePlan rule;  ///< with the offsets of its layers
  int channels = 0;
  int kernels = 0;
  int cells = 0;        ///< words of cells: one per cell, or one per 32 cells of a hardened rule
  int tile = 0;         ///< words of cells per tile, a power of two
  int tile_bits = 0;    ///< log2 of `tile`
  int tiles = 0;        ///< number of tiles
  int columns = 0;      ///< words per row of the patch: channels times tile
  int column_bits = 0;  ///< log2 of `columns`, or -1 if it is not a power of two
  int width = 0;        ///< width of the widest layer of the update
  layout::WorkOffsets work{};
};

/// The settings of `plan_tiles`.
struct TileOptions {
  RolloutUse use = RolloutUse::training;
  int tile = 4;
  int cells = 0;
  int max_layers = 0;
  int max_tree_kernels = 0;    ///< maximal number of kernels that are evaluated as trees
  std::int64_t sum_words = 0;  ///< minimal size of the staging area of trees
};

/// Plans tiles and memory for a shape.
TilePlan plan_tiles(const AutomatonShape& shape, const TileOptions& options);

/// The first of the final layers of the update that have at most `threads` gates together. It is
/// never the first layer.
int narrow_layers_from(const RulePlan& plan, int threads);

}  // namespace boolgrad
