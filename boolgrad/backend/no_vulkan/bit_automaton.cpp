// Replaces `backend/vulkan` in builds without it.
#include "boolgrad/backend/vulkan/bits/bit_automaton.h"

#include "boolgrad/backend/no_vulkan/refuse.h"

namespace boolgrad::vulkan {

std::unique_ptr<DeviceBitAutomaton> make_bit_automaton(int /*number*/,
                                                       const BitProgramView& /*program*/,
                                                       const BitShape& /*shape*/) {
  refuse();
}

}  // namespace boolgrad::vulkan
