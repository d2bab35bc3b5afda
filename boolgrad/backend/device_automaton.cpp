#include "boolgrad/backend/device_automaton.h"

#include "boolgrad/backend/cuda/automaton.h"
#include "boolgrad/core/error.h"

namespace boolgrad {

AutomatonShape with_quickest_memory(const std::string& device, AutomatonShape shape) {
  shape.keep_every = 1;
  shape.keep_activations = device == "cuda" && cuda::keeps_while_going_on(shape);
  return shape;
}

std::unique_ptr<DeviceAutomaton> make_device_automaton(const std::string& device,
                                                       const AutomatonShape& shape,
                                                       const OptimiserOptions& options) {
  if (device == "cuda") return std::make_unique<cuda::Automaton>(shape, options);
  fail("device", "expected cuda for automata, received {}", device);
}

}  // namespace boolgrad
