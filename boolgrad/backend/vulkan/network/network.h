// Networks of soft gates on a device that Vulkan shows: training steps, each in submissions that
// were recorded once, and the hardened circuit.
//
// No header of Vulkan is included here, so that modules above need not know whether the backend was
// built.
#pragma once

#include <memory>
#include <span>

#include "boolgrad/backend/device/network.h"

namespace boolgrad::vulkan {

/// A network on device `number`. The wires are copied.
std::unique_ptr<DeviceNetwork> make_network(int number, std::span<const LutWires> layers,
                                            const NetworkSpec& spec);

}  // namespace boolgrad::vulkan
