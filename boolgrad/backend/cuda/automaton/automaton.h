// Automata on an NVIDIA GPU: training steps and rollouts, each in one launch.
//
// No vendor header is included here, so that other modules need not know whether the backend was
// built.
#pragma once

#include <memory>

#include "boolgrad/backend/device/automaton.h"

namespace boolgrad::cuda {

/// Whether the device can keep the activations of `shape` while its threads go on, and has the
/// memory.
bool keeps_while_going_on(int index, const AutomatonShape& shape);

/// A rule of two-input gates with all that training needs, on the device.
std::unique_ptr<DeviceAutomaton> make_automaton(int index, const AutomatonShape& shape,
                                                const AdamWOptions& options);

}  // namespace boolgrad::cuda
