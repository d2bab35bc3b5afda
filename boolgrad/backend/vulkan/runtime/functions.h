// Vulkan functions, loaded at run time. Internal to `vulkan/`.
//
// The program does not link to the Vulkan loader, so that it also starts on machines without it.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

namespace boolgrad::vulkan {

// The Vulkan functions in use: global, per instance and per device.
// clang-format off
#define BOOLGRAD_VULKAN_GLOBAL(f) \
  f(CreateInstance) f(EnumerateInstanceVersion)
#define BOOLGRAD_VULKAN_INSTANCE(f) \
  f(EnumeratePhysicalDevices) f(GetPhysicalDeviceProperties) f(GetPhysicalDeviceProperties2) \
  f(GetPhysicalDeviceFeatures2) f(GetPhysicalDeviceMemoryProperties2) \
  f(GetPhysicalDeviceQueueFamilyProperties) \
  f(EnumerateDeviceExtensionProperties) f(CreateDevice) f(GetDeviceProcAddr) \
  f(CreateDebugUtilsMessengerEXT)
#define BOOLGRAD_VULKAN_DEVICE(f) \
  f(GetDeviceQueue) f(QueueSubmit) f(CreateFence) f(ResetFences) f(GetFenceStatus) \
  f(WaitForFences) f(CreateBuffer) f(DestroyBuffer) f(GetBufferMemoryRequirements) \
  f(AllocateMemory) f(FreeMemory) f(BindBufferMemory) f(MapMemory) f(CreateShaderModule) \
  f(DestroyShaderModule) f(CreateDescriptorSetLayout) f(CreatePipelineLayout) \
  f(CreateComputePipelines) f(CreatePipelineCache) f(CreateDescriptorPool) \
  f(DestroyDescriptorPool) f(AllocateDescriptorSets) f(UpdateDescriptorSets) \
  f(CreateCommandPool) f(AllocateCommandBuffers) f(FreeCommandBuffers) f(BeginCommandBuffer) \
  f(EndCommandBuffer) f(CmdBindPipeline) f(CmdBindDescriptorSets) f(CmdPushConstants) \
  f(CmdDispatch) f(CmdPipelineBarrier) f(CmdCopyBuffer) f(CmdFillBuffer) \
  f(CreateQueryPool) f(DestroyQueryPool) f(CmdResetQueryPool) f(CmdWriteTimestamp) \
  f(GetQueryPoolResults)
// clang-format on

/// One member per function, named like `vkCreateBuffer` without the `vk`.
struct Functions {
#define BOOLGRAD_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;
  BOOLGRAD_VULKAN_GLOBAL(BOOLGRAD_VULKAN_MEMBER)
  BOOLGRAD_VULKAN_INSTANCE(BOOLGRAD_VULKAN_MEMBER)
  BOOLGRAD_VULKAN_DEVICE(BOOLGRAD_VULKAN_MEMBER)
#undef BOOLGRAD_VULKAN_MEMBER
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;

  /// Opens the loader, which stays open, and loads the functions that need no instance. False if
  /// there is no loader.
  bool load();
  void load_instance(VkInstance instance);
  void load_device(VkDevice device);
};

}  // namespace boolgrad::vulkan
