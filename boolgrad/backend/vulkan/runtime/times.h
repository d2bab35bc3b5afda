// Device times of dispatches, for profiling. Internal to `vulkan/`.
//
// With BOOLGRAD_VULKAN_TIMES=1 in the environment, each command recorder prints the average time of
// its dispatches to standard error when it is destroyed.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/context.h"

namespace boolgrad::vulkan {

class DispatchTimes {
 public:
  /// Whether the environment asks for times and the device supports timestamps.
  static bool are_enabled(const PhysicalDevice& device);

  explicit DispatchTimes(Context& context);
  ~DispatchTimes();
  DispatchTimes(const DispatchTimes&) = delete;
  DispatchTimes& operator=(const DispatchTimes&) = delete;

  /// Record at the beginning of a command buffer, and after each dispatch.
  void begin(VkCommandBuffer commands);
  void after(VkCommandBuffer commands, std::string name);
  /// Call after the commands have run.
  void read();

 private:
  void stamp(VkCommandBuffer commands, std::string name);
  void write() const;

  Context& context_;
  VkQueryPool pool_ = nullptr;
  std::vector<std::string> names_;  ///< one per timestamp; empty at the beginning of command
                                    ///< buffers
  std::vector<double> microseconds_;
  double runs_ = 0;
};

}  // namespace boolgrad::vulkan
