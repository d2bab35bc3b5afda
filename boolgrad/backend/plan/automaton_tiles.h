// How the cells of an automaton are cut into tiles, and where a block keeps what belongs to one.
// For kernels that take a whole rollout in one launch. Pure bookkeeping, on the host.
#pragma once

#include <cstdint>

#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/plan/automaton_layout.h"
#include "boolgrad/backend/plan/automaton_plan.h"

namespace boolgrad {

enum class RolloutUse : std::uint8_t { training, soft, hard };

/// Hands out offsets in words, each on a boundary of 16 bytes.
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

/// A rule laid out for tiles of some cells.
struct TilePlan {
  RulePlan rule;  ///< with the offsets of its layers
  int channels = 0;
  int kernels = 0;
  int cells = 0;  ///< words of them: one per cell, or one for 32 cells in a row
  int tile = 0;   ///< cells of one, a power of two
  int tile_bits = 0;
  int tiles = 0;
  int columns = 0;      ///< words of a row of the patch: channels times tile
  int column_bits = 0;  ///< where that is a power of two; else -1
  int width = 0;        ///< of the widest layer of the update
  layout::WorkOffsets work{};
};

struct TileOptions {
  RolloutUse use = RolloutUse::training;
  int tile = 4;
  int cells = 0;
  int max_layers = 0;
  int max_tree_kernels = 0;    ///< for kernels to be taken as trees
  std::int64_t sum_words = 0;  ///< that the staging of trees has room for
};

TilePlan plan_tiles(const AutomatonShape& shape, const TileOptions& options);

/// The first of the last layers of the update that have at most so many gates together. The first
/// layer is never one of them.
int narrow_layers_from(const RulePlan& plan, int threads);

}  // namespace boolgrad
