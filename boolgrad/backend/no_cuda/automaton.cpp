// Stands in for `backend/cuda` where it was not built.
#include "boolgrad/backend/cuda/automaton/automaton.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

bool keeps_while_going_on(int /*index*/, const AutomatonShape& /*shape*/) { return false; }

std::unique_ptr<DeviceAutomaton> make_automaton(int /*index*/, const AutomatonShape& /*shape*/,
                                                const AdamWOptions& /*options*/) {
  refuse();
}

}  // namespace boolgrad::cuda
