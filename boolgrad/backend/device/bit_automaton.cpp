#include "boolgrad/backend/device/bit_automaton.h"

#include "boolgrad/backend/cuda/bits/bit_automaton.h"
#include "boolgrad/backend/device/devices.h"
#include "boolgrad/backend/vulkan/bits/bit_automaton.h"

namespace boolgrad {

std::unique_ptr<DeviceBitAutomaton> make_device_bit_automaton(const Device& device,
                                                              const BitProgramView& program,
                                                              const BitShape& shape) {
  expect_gpu(device);
  if (device.backend == Backend::cuda)
    return cuda::make_bit_automaton(device.index, program, shape);
  return vulkan::make_bit_automaton(device.index, program, shape);
}

}  // namespace boolgrad
