#include "boolgrad/backend/device/network.h"

#include "boolgrad/backend/cuda/network/network.h"
#include "boolgrad/backend/device/devices.h"
#include "boolgrad/backend/vulkan/network/network.h"

namespace boolgrad {

std::unique_ptr<DeviceNetwork> make_device_network(const Device& device,
                                                   std::span<const LutWires> layers,
                                                   const NetworkSpec& spec) {
  expect_gpu(device);
  if (device.backend == Backend::cuda) return cuda::make_network(device.index, layers, spec);
  return vulkan::make_network(device.index, layers, spec);
}

}  // namespace boolgrad
