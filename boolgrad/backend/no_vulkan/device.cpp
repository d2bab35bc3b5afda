// Stands in for `backend/vulkan` where it was not built.
#include "boolgrad/backend/vulkan/runtime/device.h"

#include "boolgrad/backend/no_vulkan/refuse.h"

namespace boolgrad::vulkan {

std::vector<DeviceInfo> devices() { return {}; }

std::string unavailable(int /*number*/) {
  return "boolgrad was built without Vulkan: its headers, glslc or spirv-val were not found "
         "(Debian: "
         "libvulkan-dev, glslc, spirv-tools), or it was not wanted";
}

std::string device_description(int /*number*/) { refuse(); }

}  // namespace boolgrad::vulkan
