// Replaces `backend/vulkan` in builds without it.
#include "boolgrad/backend/vulkan/runtime/device.h"

#include "boolgrad/backend/no_vulkan/refuse.h"

namespace boolgrad::vulkan {

std::vector<DeviceInfo> devices() { return {}; }

std::string unavailable(int /*number*/) {
  return "boolgrad was built without Vulkan (headers, glslc or spirv-val were not found, or "
         "BOOLGRAD_USE_VULKAN is off; Debian packages: libvulkan-dev, glslc, spirv-tools)";
}

std::string device_description(int /*number*/) { refuse(); }

}  // namespace boolgrad::vulkan
