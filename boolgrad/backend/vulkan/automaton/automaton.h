// Automata on a Vulkan device: training steps and rollouts, each in one submission that is recorded
// once.
//
// No Vulkan header is included here, so that other modules compile without Vulkan.
#pragma once

#include <cstddef>
#include <memory>

#include "boolgrad/backend/device/automaton.h"

namespace boolgrad::vulkan {

/// Whether device `number` has enough memory to keep all activations.
bool can_keep_activations(int number, const AutomatonShape& shape);

/// A rule of two-input gates on device `number`, ready for training.
std::unique_ptr<DeviceAutomaton> make_automaton(int number, const AutomatonShape& shape,
                                                const AdamWOptions& options);

/// Memory needed for training on device `number`.
std::size_t training_bytes(int number, const AutomatonShape& shape);

}  // namespace boolgrad::vulkan
