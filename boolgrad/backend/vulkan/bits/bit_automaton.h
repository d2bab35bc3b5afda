// Hardened automata on a device that Vulkan shows.
//
// No header of Vulkan is included here, so that modules above need not know whether the backend was
// built.
#pragma once

#include <memory>

#include "boolgrad/backend/device/bit_automaton.h"

namespace boolgrad::vulkan {

/// On device `number`. Programs are interpreted.
std::unique_ptr<DeviceBitAutomaton> make_bit_automaton(int number, const BitCode& code,
                                                       const BitShape& shape);

}  // namespace boolgrad::vulkan
