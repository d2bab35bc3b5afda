// Automata on an NVIDIA GPU: training steps and rollouts, each in one launch.
//
// No header of the vendor is included here, so that rooms above need not know whether the backend
// was built.
#pragma once

#include <cstddef>
#include <memory>

#include "boolgrad/backend/device/automaton.h"

namespace boolgrad::cuda {

/// Whether the device can keep the activations of `shape` while its threads go on, and has the memory.
bool keeps_while_going_on(int index, const AutomatonShape& shape);

/// A rule of two-input gates with all that training needs, on the device.
std::unique_ptr<DeviceAutomaton> make_automaton(int index, const AutomatonShape& shape,
                                                const AdamWOptions& options);

/// Device memory that training takes.
std::size_t training_bytes(const AutomatonShape& shape);

}  // namespace boolgrad::cuda
