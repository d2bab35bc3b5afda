// Sizes of an automaton that its task decides.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The experiment with sizes that fit its task: one channel per state of a rule other than 0, and
/// with `task.max_side` the grid and steps of a picture. `notices` receives a line about what was
/// seen in examples. Without a rule or picture, nothing is chosen yet.
Experiment with_task_sizes(Experiment experiment, std::vector<std::string>* notices = nullptr);

}  // namespace boolgrad::train
