// Commands that are recorded once and run as often as one likes. Inside of `vulkan/`.
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

/// Groups of a dispatch: as many as every device takes.
constexpr int max_groups = 65535;

/// The buffers of a group of shaders: the n-th is at `binding = n`. They must outlive it.
class BufferSet {
 public:
  /// Bindings that are left over or null get a buffer that is not used.
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

/// Dispatches in a row, and where they wait for one another. Recorded by the calls below; `run`
/// ends the recording when it is first called.
///
/// Drivers of desktops stop what keeps a device for long, so a recording is cut into submissions by
/// the work that its dispatches say they have.
class Recording {
 public:
  explicit Recording(Context& context);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// So many groups of a shader's threads. `push` are its push constants; `work` is its share of
  /// what a submission may hold, 1 being all of it.
  void dispatch(VkPipeline pipeline, const BufferSet& buffers, std::span<const std::byte> push,
                std::uint32_t groups, double work = 0);
  /// Dispatches that follow see all that dispatches before wrote.
  void barrier();
  /// Bytes of one buffer to another, and 0 to all of one, with barriers around it.
  void copy(const Buffer& from, std::size_t from_at, const Buffer& to, std::size_t to_at,
            std::size_t bytes);
  void clear(const Buffer& buffer);

  /// Runs all and waits for it. The host sees what was written to memory that it shares.
  void run();

 private:
  VkCommandBuffer current();
  void wait(VkPipelineStageFlags before, VkAccessFlags written, VkPipelineStageFlags after,
            VkAccessFlags seen);
  void barrier_for_all();  ///< copies and the host as well
  void end();

  Context& context_;
  std::vector<VkCommandBuffer> buffers_;
  bool is_open_ = false;  ///< the last of them is being recorded
  double work_ = 0;       ///< of the last of them
  std::optional<DispatchTimes> times_;
};

}  // namespace boolgrad::vulkan
