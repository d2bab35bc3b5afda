// The memory that training needs at least, estimated before anything is allocated.
#pragma once

#include <cstddef>

#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// A lower bound on the bytes that training an experiment takes: parameters, gradients, moments,
/// wires and, for automata, states. Samples are not counted.
std::size_t least_memory(const Experiment& experiment);

/// Throws if `least_memory` exceeds the memory that is available.
void check_memory(const Experiment& experiment);

}  // namespace boolgrad::train
