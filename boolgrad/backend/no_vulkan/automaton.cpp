// Replaces `backend/vulkan` in builds without it.
#include "boolgrad/backend/vulkan/automaton/automaton.h"

#include "boolgrad/backend/no_vulkan/refuse.h"

namespace boolgrad::vulkan {

bool can_keep_activations(int /*number*/, const AutomatonShape& /*shape*/) { refuse(); }

std::unique_ptr<DeviceAutomaton> make_automaton(int /*number*/, const AutomatonShape& /*shape*/,
                                                const AdamWOptions& /*options*/) {
  refuse();
}

std::size_t training_bytes(int /*number*/, const AutomatonShape& /*shape*/) { refuse(); }

}  // namespace boolgrad::vulkan
