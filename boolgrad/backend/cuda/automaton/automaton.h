// Automata on an NVIDIA GPU: training steps and rollouts, each in one launch.
//
// No vendor header is included here, so that other modules compile without CUDA.
#pragma once

#include <memory>

#include "boolgrad/backend/device/automaton.h"

namespace boolgrad::cuda {

/// Whether the device has enough memory to keep the activations of `shape`, and can copy them in
/// the background.
bool can_keep_activations(int index, const AutomatonShape& shape);

/// A rule of two-input gates on the device, ready for training.
std::unique_ptr<DeviceAutomaton> make_automaton(int index, const AutomatonShape& shape,
                                                const AdamWOptions& options);

}  // namespace boolgrad::cuda
