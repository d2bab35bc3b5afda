// Replaces `backend/cuda` in builds without it.
#include "boolgrad/backend/cuda/automaton/automaton.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

bool can_keep_activations(int /*index*/, const AutomatonShape& /*shape*/) { return false; }

std::unique_ptr<DeviceAutomaton> make_automaton(int /*index*/, const AutomatonShape& /*shape*/,
                                                const AdamWOptions& /*options*/) {
  refuse();
}

}  // namespace boolgrad::cuda
