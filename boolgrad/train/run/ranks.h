// Runs that several ranks train together.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/core/group.h"
#include "boolgrad/train/search/trainer.h"

namespace boolgrad::train {

/// An experiment for ranks. Unless it says how to split a batch, the batch is split into 8 blocks,
/// or into the next smaller power of two that divides it; `notices` receives a line about that. The
/// number of ranks does not matter, so it does not change the result. Throws if there are more
/// ranks than blocks.
Experiment with_blocks(Experiment experiment, const Group& group,
                       std::vector<std::string>& notices);

/// Throws, on every rank, if ranks have different versions of boolgrad, experiments, initial models
/// or training samples.
void check_agreement(const Trainer& trainer);

}  // namespace boolgrad::train
