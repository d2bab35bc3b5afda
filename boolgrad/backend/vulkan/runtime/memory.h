// Memory of a device. Inside of `vulkan/`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/context.h"

namespace boolgrad::vulkan {

enum class Place : std::uint8_t {
  device,     ///< fast for the device, reached through copies
  from_host,  ///< written by the host, read by the device
  to_host     ///< written by the device, read by the host
};

/// Bytes that shaders read and write, given back with the object.
class Buffer {
 public:
  Buffer() = default;
  /// At least 16 bytes. Throws, saying how much was asked for and how much is free, where the
  /// device has no more. What is in it is not known.
  Buffer(Context& context, std::size_t bytes, Place place = Place::device);
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

  /// Copies `bytes` to place `at`, or from there, once all that was submitted is done.
  void upload(const void* from, std::size_t bytes, std::size_t at = 0);
  void download(void* to, std::size_t bytes, std::size_t at = 0) const;
  void clear();

  /// Where the host sees it, unless its place is the device.
  void* mapped() const { return mapped_; }

 private:
  void swap(Buffer& other) noexcept;

  Context* context_ = nullptr;
  VkBuffer buffer_ = nullptr;
  VkDeviceMemory memory_ = nullptr;
  void* mapped_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A buffer of some type.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Context& context, std::size_t count, Place place = Place::device)
      : buffer_(context, count * sizeof(T), place), count_(count) {}
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
  /// What the host sees of a place that it shares.
  std::span<T> shared() const { return {static_cast<T*>(buffer_.mapped()), count_}; }

 private:
  Buffer buffer_;
  std::size_t count_ = 0;
};

}  // namespace boolgrad::vulkan
