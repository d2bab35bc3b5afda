// An open device: its queue, and the objects shared by everything that runs on it. Internal to
// `vulkan/`.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/instance.h"

namespace boolgrad::vulkan {

/// Specialisation constants: the n-th is `constant_id = n`.
using Constants = std::vector<std::uint32_t>;

/// Bytes of push constants that every device supports.
constexpr std::uint32_t push_bytes = 128;

class Context {
 public:
  /// Device `number`, opened on first use and kept open until the process ends. Throws if it cannot
  /// be used.
  static Context& get(int number);

  explicit Context(const PhysicalDevice& physical);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Functions& functions() const { return functions_; }
  Functions& functions() { return functions_; }  ///< tests replace some of them
  VkDevice device() const { return device_; }
  const PhysicalDevice& physical() const { return physical_; }
  VkCommandPool command_pool() const { return command_pool_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  VkPipelineLayout pipeline_layout() const { return pipeline_layout_; }

  /// The pipeline of a shader from `shaders.h`, specialised with `constants`. Created on first use.
  VkPipeline pipeline(const std::string& shader, const Constants& constants);
  /// The shader name of a pipeline.
  std::string name_of(VkPipeline pipeline) const;

  /// Submits each command buffer separately, so that none occupies the device for long, and waits
  /// for the last. Throws if the device is lost or times out, or with the messages of the
  /// validation layers.
  void run(std::span<const VkCommandBuffer> commands);

  /// Maximum number of workgroups in a dispatch that may wait for each other: an estimate of how
  /// many the device runs at the same time. 0 on a CPU.
  int waiting_groups() const { return waiting_groups_; }
  void set_waiting_groups(int groups) { waiting_groups_ = groups; }
  /// Whether they do. Disabled by BOOLGRAD_VULKAN_WAITING=0, or after workgroups gave up waiting.
  bool groups_wait() const { return groups_wait_; }
  void set_groups_wait(bool wait) { groups_wait_ = wait; }

  /// Subgroup size for the `.subgroups` shaders; 1: they are not used.
  int subgroup() const { return subgroup_; }
  void set_subgroup(int threads) { subgroup_ = threads; }

  /// Free bytes of the device, as reported by the driver.
  std::uint64_t free_memory() const;
  /// The memory type among `allowed` that has all `wanted` properties and the most of `liked`.
  /// Throws if there is none.
  std::uint32_t memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted,
                            VkMemoryPropertyFlags liked) const;

  /// Throws the messages of the validation layers since the last call.
  void check_messages() const { Instance::get().messages().check(); }

 private:
  void open();
  void make_layouts();
  void wait_for_fence();

  const PhysicalDevice& physical_;
  Functions functions_;
  VkDevice device_ = nullptr;
  VkQueue queue_ = nullptr;
  VkFence fence_ = nullptr;
  VkCommandPool command_pool_ = nullptr;
  VkDescriptorSetLayout set_layout_ = nullptr;
  VkPipelineLayout pipeline_layout_ = nullptr;
  VkPipelineCache cache_ = nullptr;
  std::map<std::pair<std::string, Constants>, VkPipeline> pipelines_;
  std::mutex mutex_;
  std::atomic<int> waiting_groups_ = 0;
  std::atomic<bool> groups_wait_ = false;
  std::atomic<int> subgroup_ = 1;
};

}  // namespace boolgrad::vulkan
