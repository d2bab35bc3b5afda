#include "boolgrad/backend/device_network.h"

#include "boolgrad/backend/cuda/network.h"
#include "boolgrad/backend/devices.h"
#include "boolgrad/backend/vulkan/network.h"

namespace boolgrad {

std::unique_ptr<DeviceNetwork> make_device_network(const std::string& device,
                                                   std::span<const LutWires> layers,
                                                   const NetworkPlan& plan) {
  const DeviceName name = parse_other_device(device);
  if (name.backend == "cuda") return cuda::make_network(layers, plan);
  return vulkan::make_network(name.number, layers, plan);
}

}  // namespace boolgrad
