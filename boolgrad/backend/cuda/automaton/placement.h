// How an automaton launch is divided into tiles and blocks. Internal to `cuda/`.
#pragma once

#include <cstddef>

#include "boolgrad/backend/cuda/automaton/arguments.h"
#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/plan/automaton_tiles.h"

namespace boolgrad::cuda {

/// Device limits that determine the tiling.
struct AutomatonLimits {
  int processors = 1;
  std::size_t shared_words = 0;
  bool has_async_copies = false;  ///< asynchronous bulk copies between shared and global memory
};

/// The limits of the selected device.
AutomatonLimits device_limits();

/// The tile size with the least work for the busiest block. Sizes that fit in shared memory are
/// preferred.
TilePlan best_tiles(const AutomatonShape& shape, RolloutUse use, int cells,
                    const AutomatonLimits& limits);

/// What threads keep in registers. Requires rows of four cells, kernels that are trees, and
/// activations, edges and tables in shared memory.
Holding holding_for(const TilePlan& tiles, std::size_t shared_words);

/// Number of gates with tables in shared memory: only those of perception if threads hold
/// coefficients.
int gates_with_tables(const RulePlan& plan, Holding holding);

/// Words of the rows that trees are spread over.
std::size_t spread_words(const TilePlan& tiles);

/// Whether the device copies asynchronously and a second activation buffer fits in shared memory.
bool second_acts_fit(const TilePlan& tiles, const AutomatonLimits& limits);

/// Device memory needed for training.
std::size_t training_bytes(const AutomatonShape& shape, const AutomatonLimits& limits);

}  // namespace boolgrad::cuda
