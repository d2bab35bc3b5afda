// Commands that are recorded once and run many times. Internal to `vulkan/`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/context.h"
#include "boolgrad/backend/vulkan/runtime/times.h"

namespace boolgrad::vulkan {

class Buffer;

/// Workgroups per dispatch that every device supports.
constexpr int max_groups = 65535;

/// A descriptor set: the n-th buffer is at `binding = n`. The buffers must outlive it.
class BufferSet {
 public:
  /// Null and missing bindings get an unused buffer.
  BufferSet(Context& context, std::span<const Buffer* const> buffers);
  ~BufferSet();
  BufferSet(const BufferSet&) = delete;
  BufferSet& operator=(const BufferSet&) = delete;

  VkDescriptorSet handle() const { return set_; }

 private:
  Context& context_;
  VkDescriptorPool pool_ = nullptr;
  VkDescriptorSet set_ = nullptr;
};

/// Records dispatches and barriers into command buffers. The first call of `run` ends the
/// recording.
///
/// Desktop drivers abort submissions that take too long, so the commands are split into several
/// submissions according to the `work` of the dispatches.
class CommandRecorder {
 public:
  explicit CommandRecorder(Context& context);
  ~CommandRecorder();
  CommandRecorder(const CommandRecorder&) = delete;
  CommandRecorder& operator=(const CommandRecorder&) = delete;

  /// Dispatches `groups` workgroups. `push` are the push constants. `work` is the cost as a
  /// fraction of the maximum per submission.
  void dispatch(VkPipeline pipeline, const BufferSet& buffers, std::span<const std::byte> push,
                std::uint32_t groups, double work = 0);
  /// Later dispatches see everything that earlier dispatches wrote.
  void barrier();
  /// Copies bytes between buffers, or fills a buffer with 0, with barriers before and after.
  void copy(const Buffer& from, std::size_t from_at, const Buffer& to, std::size_t to_at,
            std::size_t bytes);
  void clear(const Buffer& buffer);

  /// Runs all commands and waits. Afterwards the host sees what was written to shared memory.
  void run();

 private:
  VkCommandBuffer current();
  void wait(VkPipelineStageFlags before, VkAccessFlags written, VkPipelineStageFlags after,
            VkAccessFlags read);
  void barrier_for_all();  ///< includes copies and the host
  void end();

  Context& context_;
  std::vector<VkCommandBuffer> buffers_;
  bool is_open_ = false;  ///< the last command buffer is being recorded
  double work_ = 0;       ///< of the last command buffer
  std::optional<DispatchTimes> times_;
};

}  // namespace boolgrad::vulkan
