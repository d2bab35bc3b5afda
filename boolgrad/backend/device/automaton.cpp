#include "boolgrad/backend/device/automaton.h"

#include "boolgrad/backend/cuda/automaton/automaton.h"
#include "boolgrad/backend/device/devices.h"
#include "boolgrad/backend/vulkan/automaton/automaton.h"

namespace boolgrad {

AutomatonShape with_fastest_memory(const Device& device, AutomatonShape shape) {
  expect_gpu(device);
  shape.memory = {.policy = MemoryPolicy::everything};
  const bool keeps_all = device.backend == Backend::cuda
                             ? cuda::can_keep_activations(device.index, shape)
                             : vulkan::can_keep_activations(device.index, shape);
  if (!keeps_all) shape.memory = {.policy = MemoryPolicy::states};
  return shape;
}

std::unique_ptr<DeviceAutomaton> make_device_automaton(const Device& device,
                                                       const AutomatonShape& shape,
                                                       const AdamWOptions& options) {
  expect_gpu(device);
  if (device.backend == Backend::cuda) return cuda::make_automaton(device.index, shape, options);
  return vulkan::make_automaton(device.index, shape, options);
}

}  // namespace boolgrad
