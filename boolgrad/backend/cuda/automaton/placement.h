// How the work of an automaton's launch is cut for a device. Inside of `cuda/`.
#pragma once

#include <cstddef>

#include "boolgrad/backend/cuda/automaton/arguments.h"
#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/plan/automaton_tiles.h"

namespace boolgrad::cuda {

/// Limits of a device that decide how work is cut.
struct AutomatonLimits {
  int processors = 1;
  std::size_t shared_words = 0;
  bool copies_by_itself = false;  ///< between shared and global memory, while threads go on
};

/// Of the selected device.
AutomatonLimits device_limits();

/// The tile with the least work for the busiest block, of those that shared memory holds, if there
/// are any.
TilePlan best_tiles(const AutomatonShape& shape, RolloutUse use, int cells,
                    const AutomatonLimits& limits);

/// What threads keep in registers. Rows must be four cells long, kernels trees, and activations,
/// edges and tables in shared memory.
Holding holding_for(const TilePlan& tiles, std::size_t shared_words);

/// Gates that have tables in shared memory: where threads hold coefficients, those of perception.
int gates_with_tables(const RulePlan& plan, Holding holding);

/// Words of the rows that trees are spread over.
std::size_t spread_words(const TilePlan& tiles);

/// Whether there is a second place for activations, for a device that copies them by itself.
bool other_acts_fit(const TilePlan& tiles, const AutomatonLimits& limits);

/// Device memory that training takes.
std::size_t training_bytes(const AutomatonShape& shape, const AutomatonLimits& limits);

}  // namespace boolgrad::cuda
