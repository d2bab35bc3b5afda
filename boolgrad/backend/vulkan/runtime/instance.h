// The Vulkan instance and its physical devices. Internal to `vulkan/`.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/device.h"
#include "boolgrad/backend/vulkan/runtime/functions.h"

namespace boolgrad::vulkan {

/// Throws if `result` is an error. `what` completes "cannot ...".
void check(VkResult result, std::string_view what);

/// Storage buffers in the single descriptor set that all shaders share. Common devices allow more.
constexpr std::uint32_t max_bindings = 23;

/// A physical device.
struct PhysicalDevice {
  VkPhysicalDevice handle = nullptr;
  DeviceInfo info;
  VkPhysicalDeviceProperties properties{};
  bool is_cpu = false;
  int processors = 0;  ///< as reported by the vendor's extension; else an estimate
  unsigned queue_family = 0;
  bool reports_free_memory = false;
  /// Subgroup size, if the device guarantees it; else 1.
  int subgroup = 1;
};

/// Messages of the validation layers, which are enabled by BOOLGRAD_VULKAN_VALIDATION=1.
class Messages {
 public:
  void add(std::string message);
  /// Throws with the first message since the last call, if there was one.
  void check();

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

/// The only instance of the process, created on first use and never destroyed: destroying it would
/// unload the drivers and lose their caches.
class Instance {
 public:
  static Instance& get();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// Why there is no instance; empty if there is one.
  const std::string& why_not() const { return why_not_; }
  const Functions& functions() const { return functions_; }
  const std::vector<PhysicalDevice>& devices() const { return devices_; }
  Messages& messages() { return messages_; }

 private:
  Instance();
  /// Returns why it could not be created; empty on success.
  std::string make();
  void register_messenger();
  void find_devices();
  PhysicalDevice described(VkPhysicalDevice handle) const;

  Functions functions_;
  VkInstance instance_ = nullptr;
  bool validates_ = false;
  std::string why_not_;
  std::vector<PhysicalDevice> devices_;
  Messages messages_;
};

}  // namespace boolgrad::vulkan
