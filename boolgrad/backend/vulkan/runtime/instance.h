// Vulkan's instance and the devices that it shows. Inside of `vulkan/`.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/device.h"
#include "boolgrad/backend/vulkan/runtime/functions.h"

namespace boolgrad::vulkan {

/// Throws where `result` is an error. `what` completes "expected to ...".
void check(VkResult result, std::string_view what);

/// Bindings of the only descriptor set that every shader has: so many storage buffers in a row.
/// Devices that matter allow more.
constexpr std::uint32_t max_bindings = 22;

/// One device as the instance shows it.
struct PhysicalDevice {
  VkPhysicalDevice handle = nullptr;
  DeviceInfo info;
  VkPhysicalDeviceProperties properties{};
  bool is_cpu = false;
  int processors = 0;  ///< as far as a vendor tells; else a guess
  unsigned queue_family = 0;
  bool tells_free_memory = false;
  /// Threads in a row that exchange values directly, where the device promises how many; else 1.
  int subgroup = 1;
};

/// What validation layers say. They are asked for by BOOLGRAD_VULKAN_VALIDATION=1.
class Messages {
 public:
  void add(std::string message);
  /// Throws the first message that came since the last call, if any did.
  void check();

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

/// The only instance of the program, made when it is first asked for and there until the process
/// ends: with an instance, drivers are unloaded, and what they keep for the next one is lost.
class Instance {
 public:
  static Instance& get();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// Why there is none; empty where there is one.
  const std::string& why_not() const { return why_not_; }
  const Functions& functions() const { return functions_; }
  const std::vector<PhysicalDevice>& devices() const { return devices_; }
  Messages& messages() { return messages_; }

 private:
  Instance();
  /// Why it could not be made; empty where it was.
  std::string make();
  void listen();
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
