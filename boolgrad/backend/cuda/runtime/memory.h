// Device memory, from a caching allocator: released blocks are reused for requests of similar size
// on the same device.
//
// No vendor header is included here, so that other modules compile without CUDA.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace boolgrad::cuda {

/// Allocates at least `bytes` on the current device, aligned for any type. If the device is out of
/// memory, throws with the requested and the free amount.
void* allocate(std::size_t bytes);

/// Returns memory to its device. The block is reused only after all launches that use it have
/// finished.
void release(void* memory) noexcept;

void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);
void clear(void* memory, std::size_t bytes);

/// Page-locked host memory that the device can access directly, initialised to 0.
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* memory) noexcept;

/// Pinned memory, released with the object.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t count)
      : data_(static_cast<T*>(allocate_pinned(count * sizeof(T)))), count_(count) {}
  ~PinnedArray() { release_pinned(data_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  PinnedArray(PinnedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Device memory, released with the object.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count)
      : data_(static_cast<T*>(allocate(count * sizeof(T)))), count_(count) {}
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    upload(values.data(), values.size());
  }
  ~DeviceArray() { release(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

  void upload(const T* values, std::size_t count) {
    copy_to_device(data_, values, count * sizeof(T));
  }
  void download(T* values, std::size_t count) const {
    copy_to_host(values, data_, count * sizeof(T));
  }
  std::vector<T> values() const {
    std::vector<T> result(count_);
    download(result.data(), count_);
    return result;
  }
  void clear() { cuda::clear(data_, count_ * sizeof(T)); }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace boolgrad::cuda
