// Stands in for `backend/vulkan` where it was not built.
#include "boolgrad/backend/vulkan/automaton/automaton.h"

#include "boolgrad/backend/no_vulkan/refuse.h"

namespace boolgrad::vulkan {

bool has_room_for_activations(int /*number*/, const AutomatonShape& /*shape*/) { refuse(); }

std::unique_ptr<DeviceAutomaton> make_automaton(int /*number*/, const AutomatonShape& /*shape*/,
                                                const AdamWOptions& /*options*/) {
  refuse();
}

std::size_t training_bytes(int /*number*/, const AutomatonShape& /*shape*/) { refuse(); }

}  // namespace boolgrad::vulkan
