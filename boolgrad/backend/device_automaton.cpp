#include "boolgrad/backend/device_automaton.h"

#include "boolgrad/backend/cuda/automaton.h"
#include "boolgrad/backend/devices.h"
#include "boolgrad/backend/vulkan/automaton.h"

namespace boolgrad {

AutomatonShape with_quickest_memory(const std::string& device, AutomatonShape shape) {
  const DeviceName name = parse_other_device(device);
  shape.keep_every = 1;
  shape.keep_activations = name.backend == "cuda"
                               ? cuda::keeps_while_going_on(shape)
                               : vulkan::has_room_for_activations(name.number, shape);
  return shape;
}

std::unique_ptr<DeviceAutomaton> make_device_automaton(const std::string& device,
                                                       const AutomatonShape& shape,
                                                       const OptimiserOptions& options) {
  const DeviceName name = parse_other_device(device);
  if (name.backend == "cuda") return cuda::make_automaton(shape, options);
  return vulkan::make_automaton(name.number, shape, options);
}

}  // namespace boolgrad
