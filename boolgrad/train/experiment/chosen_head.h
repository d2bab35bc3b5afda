// The choice between classes and numbers to predict.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The experiment with a head in place of `head.kind = auto`: regression if the target of its CSV
/// file is a number with more than 20 different values, else classes. `notices` receives a line if
/// regression was chosen. Without a file, nothing is chosen yet.
Experiment with_chosen_head(Experiment experiment, std::vector<std::string>* notices = nullptr);

}  // namespace boolgrad::train
