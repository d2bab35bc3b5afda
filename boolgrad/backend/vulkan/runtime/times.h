// How long dispatches take on the device, for profiling. Inside of `vulkan/`.
//
// Where the environment has BOOLGRAD_VULKAN_TIMES=1, every recording writes to standard error, when
// it is done with, what its dispatches took on average.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/context.h"

namespace boolgrad::vulkan {

class DispatchTimes {
 public:
  /// Whether the environment asks for times, and the device tells them.
  static bool are_wanted(const PhysicalDevice& device);

  explicit DispatchTimes(Context& context);
  ~DispatchTimes();
  DispatchTimes(const DispatchTimes&) = delete;
  DispatchTimes& operator=(const DispatchTimes&) = delete;

  /// To be recorded where commands begin, and after each dispatch.
  void begin(VkCommandBuffer commands);
  void after(VkCommandBuffer commands, std::string name);
  /// To be called when all of it was run.
  void read();

 private:
  void stamp(VkCommandBuffer commands, std::string name);
  void write() const;

  Context& context_;
  VkQueryPool pool_ = nullptr;
  std::vector<std::string> names_;  ///< of stamps; those where commands begin have none
  std::vector<double> microseconds_;
  double runs_ = 0;
};

}  // namespace boolgrad::vulkan
