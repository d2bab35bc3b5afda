#include "boolgrad/backend/device_bit_automaton.h"

#include "boolgrad/backend/cuda/bit_automaton.h"
#include "boolgrad/backend/devices.h"
#include "boolgrad/backend/vulkan/bit_automaton.h"

namespace boolgrad {

std::unique_ptr<DeviceBitAutomaton> make_device_bit_automaton(const std::string& device,
                                                              const BitCode& code,
                                                              const BitShape& shape) {
  const DeviceName name = parse_other_device(device);
  if (name.backend == "cuda") return std::make_unique<cuda::BitAutomaton>(code, shape);
  return vulkan::make_bit_automaton(name.number, code, shape);
}

}  // namespace boolgrad
