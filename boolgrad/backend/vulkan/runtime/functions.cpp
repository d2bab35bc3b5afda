#include "boolgrad/backend/vulkan/runtime/functions.h"

#include <dlfcn.h>

#include <initializer_list>

namespace boolgrad::vulkan {
namespace {

void* open_loader() {
  for (const char* name : {"libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

bool Functions::load() {
  static void* const library = open_loader();
  if (library == nullptr) return false;
  GetInstanceProcAddr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (GetInstanceProcAddr == nullptr) return false;
#define BOOLGRAD_VULKAN_FIND(name) \
  name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(nullptr, "vk" #name));
  BOOLGRAD_VULKAN_GLOBAL(BOOLGRAD_VULKAN_FIND)
#undef BOOLGRAD_VULKAN_FIND
  return CreateInstance != nullptr && EnumerateInstanceVersion != nullptr;
}

void Functions::load_instance(VkInstance instance) {
#define BOOLGRAD_VULKAN_FIND(name) \
  name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(instance, "vk" #name));
  BOOLGRAD_VULKAN_INSTANCE(BOOLGRAD_VULKAN_FIND)
#undef BOOLGRAD_VULKAN_FIND
}

void Functions::load_device(VkDevice device) {
#define BOOLGRAD_VULKAN_FIND(name) \
  name = reinterpret_cast<PFN_vk##name>(GetDeviceProcAddr(device, "vk" #name));
  BOOLGRAD_VULKAN_DEVICE(BOOLGRAD_VULKAN_FIND)
#undef BOOLGRAD_VULKAN_FIND
}

}  // namespace boolgrad::vulkan
