// Automata on a device that Vulkan shows: training steps and rollouts, each in one submission that
// was recorded once.
//
// No header of Vulkan is included here, so that modules above need not know whether the backend was
// built.
#pragma once

#include <cstddef>
#include <memory>

#include "boolgrad/backend/device/automaton.h"

namespace boolgrad::vulkan {

/// Whether device `number` has memory enough to keep all activations.
bool has_room_for_activations(int number, const AutomatonShape& shape);

/// A rule of two-input gates with all that training needs, on device `number`.
std::unique_ptr<DeviceAutomaton> make_automaton(int number, const AutomatonShape& shape,
                                                const AdamWOptions& options);

/// Memory of device `number` that training takes.
std::size_t training_bytes(int number, const AutomatonShape& shape);

}  // namespace boolgrad::vulkan
