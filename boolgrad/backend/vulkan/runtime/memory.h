// Device memory. Internal to `vulkan/`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/context.h"

namespace boolgrad::vulkan {

enum class MemoryUse : std::uint8_t {
  device,     ///< fast for the device, accessed by copies
  from_host,  ///< written by the host, read by the device
  to_host     ///< written by the device, read by the host
};

/// A storage buffer, released with the object.
class Buffer {
 public:
  Buffer() = default;
  /// At least 16 bytes, uninitialised. If the device is out of memory, throws with the requested
  /// and the free amount.
  Buffer(Context& context, std::size_t bytes, MemoryUse use = MemoryUse::device);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  VkBuffer handle() const { return buffer_; }
  std::size_t bytes() const { return bytes_; }

  /// Copies `bytes` to or from offset `at`, after all submitted work has finished.
  void upload(const void* from, std::size_t bytes, std::size_t at = 0);
  void download(void* to, std::size_t bytes, std::size_t at = 0) const;
  void clear();

  /// Host address, unless the buffer is in device memory.
  void* mapped() const { return mapped_; }

 private:
  void swap(Buffer& other) noexcept;

  Context* context_ = nullptr;
  VkBuffer buffer_ = nullptr;
  VkDeviceMemory memory_ = nullptr;
  void* mapped_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A typed buffer.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Context& context, std::size_t count, MemoryUse use = MemoryUse::device)
      : buffer_(context, count * sizeof(T), use), count_(count) {}
  Array(Context& context, const std::vector<T>& values) : Array(context, values.size()) {
    upload(values);
  }

  const Buffer& buffer() const { return buffer_; }
  std::size_t size() const { return count_; }
  void upload(std::span<const T> values, std::size_t at = 0) {
    if (!values.empty()) buffer_.upload(values.data(), values.size_bytes(), at * sizeof(T));
  }
  std::vector<T> values(std::size_t at, std::size_t count) const {
    std::vector<T> result(count);
    if (count > 0) buffer_.download(result.data(), count * sizeof(T), at * sizeof(T));
    return result;
  }
  std::vector<T> values() const { return values(0, count_); }
  void clear() { buffer_.clear(); }
  /// The contents, if the buffer is host-visible.
  std::span<T> shared() const { return {static_cast<T*>(buffer_.mapped()), count_}; }

 private:
  Buffer buffer_;
  std::size_t count_ = 0;
};

}  // namespace boolgrad::vulkan
