// The device features that an experiment requires.
#pragma once

#include <vector>

#include "boolgrad/backend/device/capabilities.h"
#include "boolgrad/options/device.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The features that training `experiment` needs, in the order of `Feature`.
std::vector<Feature> required_features(const Experiment& experiment);

/// Throws if `device` lacks a feature that `experiment` requires. The message names the feature.
void check_supported(const Experiment& experiment, const Device& device);

}  // namespace boolgrad::train
