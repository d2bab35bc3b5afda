// Automata on an NVIDIA GPU: training steps and rollouts, each in one launch.
//
// No header of the vendor is included here, so that rooms above need not know whether the backend
// was built.
#pragma once

#include <cstddef>
#include <memory>

#include "boolgrad/backend/device_automaton.h"

namespace boolgrad::cuda {

/// Whether the device could keep activations without anybody waiting for it, and has memory enough.
bool keeps_while_going_on(AutomatonShape shape);

/// A rule of two-input gates with all that training needs, on the device.
std::unique_ptr<DeviceAutomaton> make_automaton(const AutomatonShape& shape,
                                                const OptimiserOptions& options);

/// Device memory that training takes.
std::size_t training_bytes(const AutomatonShape& shape);

}  // namespace boolgrad::cuda
