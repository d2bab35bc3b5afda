// Hardened automata on a Vulkan device.
//
// No Vulkan header is included here, so that other modules compile without Vulkan.
#pragma once

#include <memory>

#include "boolgrad/backend/device/bit_automaton.h"

namespace boolgrad::vulkan {

/// On device `number`. Programs are interpreted.
std::unique_ptr<DeviceBitAutomaton> make_bit_automaton(int number, const BitProgramView& code,
                                                       const BitShape& shape);

}  // namespace boolgrad::vulkan
