// What an experiment asks of a device.
#pragma once

#include <vector>

#include "boolgrad/backend/device/capabilities.h"
#include "boolgrad/backend/device/device.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// The features that training `experiment` needs, in the order of `Feature`.
std::vector<Feature> required_features(const Experiment& experiment);

/// Refuses an experiment that asks for what `device` does not support, and says what.
void check_supported(const Experiment& experiment, const Device& device);

}  // namespace boolgrad
