#include "boolgrad/backend/vulkan/runtime/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "boolgrad/backend/vulkan/runtime/settings.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

bool validation_is_wanted() { return is_set_to("BOOLGRAD_VULKAN_VALIDATION", "1"); }

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                          VkDebugUtilsMessageTypeFlagsEXT /*type*/,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                          void* user) {
  static_cast<Messages*>(user)->add(data->pMessage);
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_for(Messages& messages) {
  return {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
          .pNext = nullptr,
          .flags = 0,
          .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                             VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
          .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
          .pfnUserCallback = on_message,
          .pUserData = &messages};
}

std::string kind_name(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return "discrete GPU";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return "integrated GPU";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return "virtual GPU";
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return "CPU";
    default: return "other";
  }
}

int rank_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return 3;
    default: return 2;
  }
}

std::string result_text(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "out of device memory";
    case VK_ERROR_DEVICE_LOST:
      return "the device was lost; its driver was reset or aborted a long submission";
    case VK_TIMEOUT: return "timeout";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "the driver does not support this version of Vulkan";
    default: return fmt::format("error {}", static_cast<int>(result));
  }
}

}  // namespace

void check(VkResult result, std::string_view what) {
  if (result == VK_SUCCESS) return;
  fail("vulkan", "cannot {}: {}", what, result_text(result));
}

void Messages::add(std::string message) {
  const std::scoped_lock lock(mutex_);
  all_.push_back(std::move(message));
}

void Messages::check() {
  const std::scoped_lock lock(mutex_);
  if (all_.empty()) return;
  const std::string first = all_.front();
  const std::size_t others = all_.size() - 1;
  all_.clear();
  fail("vulkan", "validation layers: \"{}\" and {} more messages", first, others);
}

Instance& Instance::get() {
  static Instance& instance = *new Instance;
  return instance;
}

Instance::Instance() {
  why_not_ = make();
  if (!why_not_.empty()) return;
  find_devices();
  if (devices_.empty()) {
    why_not_ = "no driver found (Debian: mesa-vulkan-drivers, or the driver of the vendor)";
  }
}

std::string Instance::make() {
  if (!functions_.load()) {
    return "no Vulkan loader found (Debian: libvulkan1, with drivers in mesa-vulkan-drivers)";
  }
  std::uint32_t version = 0;
  functions_.EnumerateInstanceVersion(&version);
  if (version < VK_API_VERSION_1_2) return "the loader of Vulkan is older than 1.2";
  validates_ = validation_is_wanted();
  const VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                      .pNext = nullptr,
                                      .pApplicationName = "boolgrad",
                                      .applicationVersion = 0,
                                      .pEngineName = "boolgrad",
                                      .engineVersion = 0,
                                      .apiVersion = VK_API_VERSION_1_2};
  const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_for(messages_);
  constexpr std::array enabled = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  const VkValidationFeaturesEXT features{
      .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
      .pNext = &messenger,
      .enabledValidationFeatureCount = static_cast<std::uint32_t>(enabled.size()),
      .pEnabledValidationFeatures = enabled.data(),
      .disabledValidationFeatureCount = 0,
      .pDisabledValidationFeatures = nullptr};
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                  .pNext = validates_ ? &features : nullptr,
                                  .flags = 0,
                                  .pApplicationInfo = &application,
                                  .enabledLayerCount = validates_ ? 1U : 0U,
                                  .ppEnabledLayerNames = &validation_layer,
                                  .enabledExtensionCount = validates_ ? 1U : 0U,
                                  .ppEnabledExtensionNames = &extension};
  const VkResult result = functions_.CreateInstance(&info, nullptr, &instance_);
  if (result == VK_ERROR_LAYER_NOT_PRESENT) {
    return "BOOLGRAD_VULKAN_VALIDATION is set, but the layers that validate are not there (Debian: "
           "vulkan-validationlayers)";
  }
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    return "no driver found (Debian: mesa-vulkan-drivers, or the driver of the vendor)";
  }
  if (result != VK_SUCCESS) return result_text(result);
  functions_.load_instance(instance_);
  if (validates_) register_messenger();
  return "";
}

void Instance::register_messenger() {
  const VkDebugUtilsMessengerCreateInfoEXT info = messenger_for(messages_);
  VkDebugUtilsMessengerEXT messenger = nullptr;
  check(functions_.CreateDebugUtilsMessengerEXT(instance_, &info, nullptr, &messenger),
        "listen to the validation layers");
}

void Instance::find_devices() {
  std::uint32_t count = 0;
  if (functions_.EnumeratePhysicalDevices(instance_, &count, nullptr) != VK_SUCCESS) return;
  std::vector<VkPhysicalDevice> handles(count);
  functions_.EnumeratePhysicalDevices(instance_, &count, handles.data());
  for (VkPhysicalDevice handle : handles) devices_.push_back(described(handle));
  std::ranges::stable_sort(devices_, {}, [](const PhysicalDevice& device) {
    return rank_of(device.properties.deviceType);
  });
}

namespace {

std::uint64_t local_memory(const VkPhysicalDeviceMemoryProperties& memory) {
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) largest = std::max(largest, heap.size);
  }
  return largest;
}

std::string why_unfit(const VkPhysicalDeviceProperties& properties, bool computes) {
  if (properties.apiVersion < VK_API_VERSION_1_2) {
    return fmt::format("its driver supports Vulkan {}.{}, and 1.2 is needed",
                       VK_API_VERSION_MAJOR(properties.apiVersion),
                       VK_API_VERSION_MINOR(properties.apiVersion));
  }
  if (!computes) return "it has no compute queue";
  if (properties.limits.maxPerStageDescriptorStorageBuffers < max_bindings) {
    return fmt::format("it supports {} storage buffers per shader, and {} are needed",
                       properties.limits.maxPerStageDescriptorStorageBuffers, max_bindings);
  }
  return "";
}

}  // namespace

namespace {

/// The subgroup size that a compute shader can require and whose threads can shuffle values; 1 if
/// there is none. Only for devices that support subgroup size control.
int guaranteed_subgroup(const Functions& functions, VkPhysicalDevice handle) {
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT can{};
  can.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &can;
  functions.GetPhysicalDeviceFeatures2(handle, &features);
  VkPhysicalDeviceSubgroupSizeControlPropertiesEXT control{};
  control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT;
  VkPhysicalDeviceSubgroupProperties subgroups{};
  subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  subgroups.pNext = &control;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &subgroups;
  functions.GetPhysicalDeviceProperties2(handle, &properties);
  const bool is_guaranteed =
      can.subgroupSizeControl == VK_TRUE && can.computeFullSubgroups == VK_TRUE &&
      (control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
      (subgroups.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT) != 0 &&
      subgroups.subgroupSize >= control.minSubgroupSize &&
      subgroups.subgroupSize <= control.maxSubgroupSize;
  return is_guaranteed ? static_cast<int>(subgroups.subgroupSize) : 1;
}

}  // namespace

PhysicalDevice Instance::described(VkPhysicalDevice handle) const {
  PhysicalDevice device;
  device.handle = handle;
  functions_.GetPhysicalDeviceProperties(handle, &device.properties);
  std::uint32_t count = 0;
  functions_.EnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  functions_.EnumerateDeviceExtensionProperties(handle, nullptr, &count, extensions.data());
  const auto has = [&](const char* name) {
    return std::ranges::any_of(extensions, [&](const VkExtensionProperties& extension) {
      return std::strcmp(extension.extensionName, name) == 0;
    });
  };
  device.reports_free_memory = has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);

  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV multiprocessors{};
  multiprocessors.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
  VkPhysicalDeviceShaderCorePropertiesAMD compute_units{};
  compute_units.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  const bool knows_drivers = device.properties.apiVersion >= VK_API_VERSION_1_2;
  if (knows_drivers) all.pNext = &driver;
  if (has(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
    multiprocessors.pNext = all.pNext;
    all.pNext = &multiprocessors;
  }
  if (has(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
    compute_units.pNext = all.pNext;
    all.pNext = &compute_units;
  }
  functions_.GetPhysicalDeviceProperties2(handle, &all);
  if (knows_drivers && has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) {
    device.subgroup = guaranteed_subgroup(functions_, handle);
  }
  device.processors = static_cast<int>(
      std::max(multiprocessors.shaderSMCount, compute_units.shaderEngineCount *
                                                  compute_units.shaderArraysPerEngineCount *
                                                  compute_units.computeUnitsPerShaderArray));
  constexpr int likely_processors = 32;
  if (device.processors == 0) device.processors = likely_processors;
  device.is_cpu = device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;

  functions_.GetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  functions_.GetPhysicalDeviceQueueFamilyProperties(handle, &count, families.data());
  const auto computes = std::ranges::find_if(families, [](const VkQueueFamilyProperties& family) {
    return (family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
  });
  device.queue_family = static_cast<unsigned>(computes - families.begin());

  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  functions_.GetPhysicalDeviceMemoryProperties2(handle, &memory);
  device.info = {.name = static_cast<const char*>(device.properties.deviceName),
                 .kind = kind_name(device.properties.deviceType),
                 .memory = local_memory(memory.memoryProperties),
                 .driver = knows_drivers
                               ? fmt::format("{} {}", static_cast<const char*>(driver.driverName),
                                             static_cast<const char*>(driver.driverInfo))
                               : "unknown",
                 .why_not = why_unfit(device.properties, computes != families.end())};
  return device;
}

// ------------------------------------------------------------------ device queries

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> all;
  for (const PhysicalDevice& device : Instance::get().devices()) all.push_back(device.info);
  return all;
}

std::string unavailable(int number) {
  const Instance& instance = Instance::get();
  if (!instance.why_not().empty()) return instance.why_not();
  const auto count = static_cast<int>(instance.devices().size());
  if (number < 0 || number >= count) {
    return count == 1 ? "there is only vulkan:0"
                      : fmt::format("there are only vulkan:0 to vulkan:{}", count - 1);
  }
  return instance.devices()[static_cast<std::size_t>(number)].info.why_not;
}

std::string device_description(int number) {
  const DeviceInfo info = devices().at(static_cast<std::size_t>(number));
  return fmt::format("{}, {}, {:.0f} GB, driver {}", info.name, info.kind,
                     static_cast<double>(info.memory) / 1e9, info.driver);
}

}  // namespace boolgrad::vulkan
