// Networks of soft gates on a Vulkan device: training steps in submissions that are recorded once,
// and the hardened circuit.
//
// No Vulkan header is included here, so that other modules compile without Vulkan.
#pragma once

#include <memory>
#include <span>

#include "boolgrad/backend/device/network.h"

namespace boolgrad::vulkan {

/// A network on device `number`. The wires are copied.
std::unique_ptr<DeviceNetwork> make_network(int number, std::span<const LutWires> layers,
                                            const NetworkSpec& spec);

}  // namespace boolgrad::vulkan
