#include "boolgrad/backend/device_network.h"

#include "boolgrad/backend/cuda/network.h"
#include "boolgrad/backend/devices.h"
#include "boolgrad/backend/vulkan/network.h"

namespace boolgrad {

std::unique_ptr<DeviceNetwork> make_device_network(const std::string& device,
                                                   std::span<const LutWires> layers,
                                                   const NetworkPlan& plan) {
  const DeviceName name = parse_other_device(device);
  if (name.backend == "cuda") return std::make_unique<cuda::Network>(layers, plan);
  return std::make_unique<vulkan::Network>(name.number, layers, plan);
}

}  // namespace boolgrad
