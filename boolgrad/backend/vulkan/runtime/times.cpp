#include "boolgrad/backend/vulkan/runtime/times.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "boolgrad/backend/vulkan/runtime/settings.h"

namespace boolgrad::vulkan {

namespace {
constexpr std::uint32_t max_stamps = 4096;
}

bool DispatchTimes::are_enabled(const PhysicalDevice& device) {
  return device.properties.limits.timestampComputeAndGraphics == VK_TRUE &&
         is_set_to("BOOLGRAD_VULKAN_TIMES", "1");
}

DispatchTimes::DispatchTimes(Context& context) : context_(context) {
  const VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                   .pNext = nullptr,
                                   .flags = 0,
                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = max_stamps,
                                   .pipelineStatistics = 0};
  check(context_.functions().CreateQueryPool(context_.device(), &info, nullptr, &pool_),
        "make room for times");
}

DispatchTimes::~DispatchTimes() {
  context_.functions().DestroyQueryPool(context_.device(), pool_, nullptr);
  write();
}

void DispatchTimes::stamp(VkCommandBuffer commands, std::string name) {
  if (names_.size() == max_stamps) return;
  const auto number = static_cast<std::uint32_t>(names_.size());
  const Functions& vk = context_.functions();
  if (number == 0) vk.CmdResetQueryPool(commands, pool_, 0, max_stamps);
  vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_, number);
  names_.push_back(std::move(name));
}

void DispatchTimes::begin(VkCommandBuffer commands) { stamp(commands, {}); }

void DispatchTimes::after(VkCommandBuffer commands, std::string name) {
  stamp(commands, std::move(name));
}

void DispatchTimes::read() {
  std::vector<std::uint64_t> ticks(names_.size());
  check(context_.functions().GetQueryPoolResults(
            context_.device(), pool_, 0, static_cast<std::uint32_t>(ticks.size()),
            ticks.size() * sizeof(ticks[0]), ticks.data(), sizeof(ticks[0]),
            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "read times");
  const double tick = context_.physical().properties.limits.timestampPeriod / 1000.0;
  microseconds_.resize(ticks.size());
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    microseconds_[i] += static_cast<double>(ticks[i] - ticks[i - 1]) * tick;
  }
  runs_ += 1;
}

void DispatchTimes::write() const {
  const auto is_dispatch = [](const std::string& name) { return !name.empty(); };
  if (runs_ == 0 || std::ranges::none_of(names_, is_dispatch)) return;
  fmt::print(stderr, "microseconds of dispatches, averages of {} runs:\n", runs_);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!is_dispatch(names_[i])) continue;
    fmt::print(stderr, "{:9.2f}  {}\n", microseconds_[i] / runs_, names_[i]);
  }
}

}  // namespace boolgrad::vulkan
