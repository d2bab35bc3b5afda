// A device that is open: its queue, and what is made once for all that runs on it. Inside of
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

/// Numbers that a shader is compiled with: the n-th is that of `constant_id = n`.
using Constants = std::vector<std::uint32_t>;

/// Bytes of push constants: as many as every device allows.
constexpr std::uint32_t push_bytes = 128;

class Context {
 public:
  /// Device `number`, opened when it is first asked for and kept open until the process ends.
  /// Throws where it cannot be used.
  static Context& get(int number);

  explicit Context(const PhysicalDevice& physical);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Functions& functions() const { return functions_; }
  Functions& functions() { return functions_; }  ///< tests replace some
  VkDevice device() const { return device_; }
  const PhysicalDevice& physical() const { return physical_; }
  VkCommandPool command_pool() const { return command_pool_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  VkPipelineLayout pipeline_layout() const { return pipeline_layout_; }

  /// The pipeline of a shader of `shaders.h`, compiled with `constants` when it is first asked for.
  VkPipeline pipeline(const std::string& shader, const Constants& constants);
  /// The name of the shader of a pipeline.
  std::string name_of(VkPipeline pipeline) const;

  /// Submits command buffers, each for itself so that none keeps the device for long, and waits for
  /// the last. Throws where the device is lost or does not end, and what validation layers said.
  void run(std::span<const VkCommandBuffer> commands);

  /// Groups of a dispatch that could wait for one another: as many as the device is thought to have
  /// running at a time, none on a CPU.
  int waiting_groups() const { return waiting_groups_; }
  void set_waiting_groups(int groups) { waiting_groups_ = groups; }
  /// Whether they do: unless BOOLGRAD_VULKAN_WAITING is 0, until they have waited without success.
  bool groups_wait() const { return groups_wait_; }
  void let_groups_wait(bool wait) { groups_wait_ = wait; }

  /// Threads of a group that exchange values directly in shaders called `.subgroups`; 1 where there
  /// are to be none.
  int subgroup() const { return subgroup_; }
  void set_subgroup(int threads) { subgroup_ = threads; }

  /// Free bytes of the device, as far as the driver tells.
  std::uint64_t free_memory() const;
  /// The type of memory that has all `wanted` properties and most of `liked`, among `allowed`;
  /// throws where there is none.
  std::uint32_t memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted,
                            VkMemoryPropertyFlags liked) const;

  /// Throws what validation layers have said since the last call.
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
