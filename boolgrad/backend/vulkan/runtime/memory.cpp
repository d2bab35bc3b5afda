#include "boolgrad/backend/vulkan/runtime/memory.h"

#include <algorithm>
#include <utility>

#include "boolgrad/backend/vulkan/runtime/commands.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::vulkan {
namespace {

constexpr std::size_t min_bytes = 16;
/// Copies go through a host-visible staging buffer, in chunks.
constexpr std::size_t staging_bytes = std::size_t{16} << 20;

struct Properties {
  VkMemoryPropertyFlags wanted, liked;
};

Properties properties_of(MemoryUse use) {
  constexpr VkMemoryPropertyFlags seen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  switch (use) {
    case MemoryUse::device: return {0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    case MemoryUse::from_host: return {seen, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    case MemoryUse::to_host: break;
  }
  return {seen, VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
}

[[noreturn]] void fail_out_of_memory(const Context& context, std::size_t bytes) {
  fail("vulkan", "out of device memory: {} requested, {} free", bytes_text(bytes),
       bytes_text(context.free_memory()));
}

}  // namespace

Buffer::Buffer(Context& context, std::size_t bytes, MemoryUse use)
    : context_(&context), bytes_(std::max((bytes + 3) / 4 * 4, min_bytes)) {
  if (bytes_ > context.physical().info.memory) fail_out_of_memory(context, bytes_);
  const std::size_t max_bytes = context.physical().properties.limits.maxStorageBufferRange;
  if (bytes_ > max_bytes) {
    fail("vulkan", "expected buffers of at most {} on this device, received {}",
         bytes_text(max_bytes), bytes_text(bytes_));
  }
  const Functions& vk = context.functions();
  const VkBufferCreateInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                .pNext = nullptr,
                                .flags = 0,
                                .size = bytes_,
                                .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                         VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                         VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
                                .queueFamilyIndexCount = 0,
                                .pQueueFamilyIndices = nullptr};
  check(vk.CreateBuffer(context.device(), &info, nullptr, &buffer_), "create a buffer");
  VkMemoryRequirements needs{};
  vk.GetBufferMemoryRequirements(context.device(), buffer_, &needs);
  const Properties properties = properties_of(use);
  const VkMemoryAllocateInfo memory{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                    .pNext = nullptr,
                                    .allocationSize = needs.size,
                                    .memoryTypeIndex = context.memory_type(
                                        needs.memoryTypeBits, properties.wanted, properties.liked)};
  const VkResult result = vk.AllocateMemory(context.device(), &memory, nullptr, &memory_);
  if (result != VK_SUCCESS) {
    vk.DestroyBuffer(context.device(), buffer_, nullptr);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
      fail_out_of_memory(context, needs.size);
    }
    check(result, "allocate device memory");
  }
  check(vk.BindBufferMemory(context.device(), buffer_, memory_, 0), "bind device memory");
  if (use == MemoryUse::device) return;
  check(vk.MapMemory(context.device(), memory_, 0, VK_WHOLE_SIZE, 0, &mapped_),
        "map device memory");
  std::memset(mapped_, 0, bytes_);
}

Buffer::~Buffer() {
  if (buffer_ == nullptr) return;
  const Functions& vk = context_->functions();
  vk.DestroyBuffer(context_->device(), buffer_, nullptr);
  vk.FreeMemory(context_->device(), memory_, nullptr);
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(buffer_, other.buffer_);
  std::swap(memory_, other.memory_);
  std::swap(mapped_, other.mapped_);
  std::swap(bytes_, other.bytes_);
}

void Buffer::upload(const void* from, std::size_t bytes, std::size_t at) {
  const Buffer staging(*context_, std::min(bytes, staging_bytes), MemoryUse::from_host);
  for (std::size_t done = 0; done < bytes; done += staging_bytes) {
    const std::size_t part = std::min(bytes - done, staging_bytes);
    std::memcpy(staging.mapped(), static_cast<const std::byte*>(from) + done, part);
    CommandRecorder copy(*context_);
    copy.copy(staging, 0, *this, at + done, (part + 3) / 4 * 4);
    copy.run();
  }
}

void Buffer::download(void* to, std::size_t bytes, std::size_t at) const {
  const Buffer staging(*context_, std::min(bytes, staging_bytes), MemoryUse::to_host);
  for (std::size_t done = 0; done < bytes; done += staging_bytes) {
    const std::size_t part = std::min(bytes - done, staging_bytes);
    CommandRecorder copy(*context_);
    copy.copy(*this, at + done, staging, 0, (part + 3) / 4 * 4);
    copy.run();
    std::memcpy(static_cast<std::byte*>(to) + done, staging.mapped(), part);
  }
}

void Buffer::clear() {
  CommandRecorder commands(*context_);
  commands.clear(*this);
  commands.run();
}

}  // namespace boolgrad::vulkan
