// Replaces `backend/vulkan` in builds without it.
#include "boolgrad/backend/vulkan/network/network.h"

#include "boolgrad/backend/no_vulkan/refuse.h"

namespace boolgrad::vulkan {

std::unique_ptr<DeviceNetwork> make_network(int /*number*/, std::span<const LutWires> /*layers*/,
                                            const NetworkSpec& /*spec*/) {
  refuse();
}

}  // namespace boolgrad::vulkan
