// Networks of soft gates on an NVIDIA GPU: whole training steps, and the hardened circuit.
//
// No vendor header is included here, so that other modules compile without CUDA.
#pragma once

#include <memory>
#include <span>

#include "boolgrad/backend/device/network.h"

namespace boolgrad::cuda {

/// A network on the device. The wires are copied.
std::unique_ptr<DeviceNetwork> make_network(int index, std::span<const LutWires> layers,
                                            const NetworkSpec& spec);

}  // namespace boolgrad::cuda
