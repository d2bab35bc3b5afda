#include "boolgrad/backend/vulkan/runtime/context.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>

#include "boolgrad/backend/vulkan/runtime/settings.h"
#include "boolgrad/backend/vulkan/runtime/shaders.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::vulkan {

Context& Context::get(int number) {
  static std::mutex mutex;
  static auto& open = *new std::map<int, std::unique_ptr<Context>>;  // lives as long as the
                                                                     // instance
  const std::string why_not = unavailable(number);
  if (!why_not.empty()) fail("vulkan", "no Vulkan device available: {}", why_not);
  const std::scoped_lock lock(mutex);
  std::unique_ptr<Context>& context = open[number];
  if (!context) {
    context =
        std::make_unique<Context>(Instance::get().devices()[static_cast<std::size_t>(number)]);
  }
  return *context;
}

Context::Context(const PhysicalDevice& physical)
    : physical_(physical), functions_(Instance::get().functions()) {
  open();
  make_layouts();
  waiting_groups_ = physical.is_cpu ? 0 : physical.processors;
  groups_wait_ = !is_set_to("BOOLGRAD_VULKAN_WAITING", "0");
  subgroup_ = physical.subgroup;
  check_messages();
}

void Context::open() {
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .pNext = nullptr,
                                      .flags = 0,
                                      .queueFamilyIndex = physical_.queue_family,
                                      .queueCount = 1,
                                      .pQueuePriorities = &priority};
  std::vector<const char*> extensions;
  if (physical_.reports_free_memory) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT subgroups{};
  subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT;
  subgroups.subgroupSizeControl = VK_TRUE;
  subgroups.computeFullSubgroups = VK_TRUE;
  const bool has_subgroups = physical_.subgroup > 1;
  if (has_subgroups) extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  const VkDeviceCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = has_subgroups ? &subgroups : nullptr,
      .flags = 0,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
      .enabledLayerCount = 0,
      .ppEnabledLayerNames = nullptr,
      .enabledExtensionCount = static_cast<std::uint32_t>(extensions.size()),
      .ppEnabledExtensionNames = extensions.data(),
      .pEnabledFeatures = nullptr};
  check(functions_.CreateDevice(physical_.handle, &info, nullptr, &device_), "open a device");
  functions_.load_device(device_);
  functions_.GetDeviceQueue(device_, physical_.queue_family, 0, &queue_);
  const VkFenceCreateInfo fence{
      .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .pNext = nullptr, .flags = 0};
  check(functions_.CreateFence(device_, &fence, nullptr, &fence_), "create a fence");
  const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                     .pNext = nullptr,
                                     .flags = 0,
                                     .queueFamilyIndex = physical_.queue_family};
  check(functions_.CreateCommandPool(device_, &pool, nullptr, &command_pool_),
        "create a command pool");
}

void Context::make_layouts() {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (std::uint32_t i = 0; i < max_bindings; ++i) {
    bindings.push_back({.binding = i,
                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                        .descriptorCount = 1,
                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                        .pImmutableSamplers = nullptr});
  }
  const VkDescriptorSetLayoutCreateInfo set{
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .pNext = nullptr,
      .flags = 0,
      .bindingCount = max_bindings,
      .pBindings = bindings.data()};
  check(functions_.CreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_),
        "create a descriptor set layout");
  const VkPushConstantRange push{
      .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .offset = 0, .size = push_bytes};
  const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .pNext = nullptr,
                                          .flags = 0,
                                          .setLayoutCount = 1,
                                          .pSetLayouts = &set_layout_,
                                          .pushConstantRangeCount = 1,
                                          .pPushConstantRanges = &push};
  check(functions_.CreatePipelineLayout(device_, &layout, nullptr, &pipeline_layout_),
        "create a pipeline layout");
  const VkPipelineCacheCreateInfo cache{.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                        .pNext = nullptr,
                                        .flags = 0,
                                        .initialDataSize = 0,
                                        .pInitialData = nullptr};
  check(functions_.CreatePipelineCache(device_, &cache, nullptr, &cache_),
        "create a pipeline cache");
}

VkPipeline Context::pipeline(const std::string& shader, const Constants& constants) {
  const std::scoped_lock lock(mutex_);
  VkPipeline& pipeline = pipelines_[{shader, constants}];
  if (pipeline != nullptr) return pipeline;
  const std::span<const std::uint32_t> words = shader_words(shader);
  const VkShaderModuleCreateInfo module_info{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                             .pNext = nullptr,
                                             .flags = 0,
                                             .codeSize = words.size_bytes(),
                                             .pCode = words.data()};
  VkShaderModule module = nullptr;
  check(functions_.CreateShaderModule(device_, &module_info, nullptr, &module),
        "create a shader module");
  std::vector<VkSpecializationMapEntry> entries;
  for (std::uint32_t i = 0; i < constants.size(); ++i) {
    entries.push_back({.constantID = i, .offset = i * 4, .size = 4});
  }
  const VkSpecializationInfo special{.mapEntryCount = static_cast<std::uint32_t>(entries.size()),
                                     .pMapEntries = entries.data(),
                                     .dataSize = constants.size() * sizeof(std::uint32_t),
                                     .pData = constants.data()};
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT subgroup{
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT,
      .pNext = nullptr,
      .requiredSubgroupSize = static_cast<std::uint32_t>(physical_.subgroup)};
  const bool has_subgroups = shader.ends_with(".subgroups");
  VkPipelineShaderStageCreateFlags flags = 0;
  if (has_subgroups) flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
  const VkPipelineShaderStageCreateInfo stage{
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
      .pNext = has_subgroups ? &subgroup : nullptr,
      .flags = flags,
      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
      .module = module,
      .pName = "main",
      .pSpecializationInfo = &special};
  const VkComputePipelineCreateInfo info{.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                         .pNext = nullptr,
                                         .flags = 0,
                                         .stage = stage,
                                         .layout = pipeline_layout_,
                                         .basePipelineHandle = nullptr,
                                         .basePipelineIndex = -1};
  const VkResult result =
      functions_.CreateComputePipelines(device_, cache_, 1, &info, nullptr, &pipeline);
  functions_.DestroyShaderModule(device_, module, nullptr);
  check(result, "compile a shader");
  check_messages();
  return pipeline;
}

std::string Context::name_of(VkPipeline pipeline) const {
  const auto found =
      std::ranges::find_if(pipelines_, [&](const auto& entry) { return entry.second == pipeline; });
  return found == pipelines_.end() ? std::string() : found->first.first;
}

void Context::run(std::span<const VkCommandBuffer> commands) {
  const std::scoped_lock lock(mutex_);
  check_messages();  // do not submit invalid commands
  std::vector<VkSubmitInfo> submissions;
  for (const VkCommandBuffer& buffer : commands) {
    submissions.push_back({.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .pNext = nullptr,
                           .waitSemaphoreCount = 0,
                           .pWaitSemaphores = nullptr,
                           .pWaitDstStageMask = nullptr,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &buffer,
                           .signalSemaphoreCount = 0,
                           .pSignalSemaphores = nullptr});
  }
  check(functions_.QueueSubmit(queue_, static_cast<std::uint32_t>(submissions.size()),
                               submissions.data(), fence_),
        "submit work to the device");
  wait_for_fence();
  check(functions_.ResetFences(device_, 1, &fence_), "reset a fence");
  check_messages();
}

void Context::wait_for_fence() {
  // A wake-up takes as long as a short step, so the fence is polled for a while. Not if the device
  // is the CPU itself, which has to do the work.
  constexpr auto awake = std::chrono::milliseconds(2);
  const auto begin = std::chrono::steady_clock::now();
  while (!physical_.is_cpu && std::chrono::steady_clock::now() - begin < awake) {
    const VkResult result = functions_.GetFenceStatus(device_, fence_);
    if (result == VK_NOT_READY) continue;
    return check(result, "wait for the device");
  }
  // Ten minutes: a submission takes a fraction of a second, but there may be many.
  constexpr std::uint64_t max_nanoseconds = 600'000'000'000;
  check(functions_.WaitForFences(device_, 1, &fence_, VK_TRUE, max_nanoseconds),
        "wait for the device");
}

std::uint64_t Context::free_memory() const {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  if (physical_.reports_free_memory) memory.pNext = &budget;
  functions_.GetPhysicalDeviceMemoryProperties2(physical_.handle, &memory);
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryProperties.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) continue;
    const std::uint64_t total = physical_.reports_free_memory ? budget.heapBudget[i] : heap.size;
    const std::uint64_t used = physical_.reports_free_memory ? budget.heapUsage[i] : 0;
    largest = std::max(largest, total - std::min(total, used));
  }
  return largest;
}

std::uint32_t Context::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted,
                                   VkMemoryPropertyFlags liked) const {
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  functions_.GetPhysicalDeviceMemoryProperties2(physical_.handle, &memory);
  int best = -1;
  std::uint32_t chosen = 0;
  for (std::uint32_t i = 0; i < memory.memoryProperties.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryProperties.memoryTypes[i].propertyFlags;
    if ((allowed >> i & 1) == 0 || (flags & wanted) != wanted) continue;
    const int score = std::popcount(flags & liked);
    if (score <= best) continue;
    best = score;
    chosen = i;
  }
  if (best < 0) fail("vulkan", "the device has no host-visible memory");
  return chosen;
}

}  // namespace boolgrad::vulkan
