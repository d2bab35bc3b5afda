// Every call of the CUDA runtime goes through here. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "boolgrad/core/error.h"

namespace boolgrad::cuda {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    fail("cuda", "expected to {}, received {}", what, cudaGetErrorString(error));
  }
}

/// Memory on the device, freed with the object.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : count_(count) {
    const std::size_t bytes = (count == 0 ? 1 : count) * sizeof(T);
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
      cudaGetLastError();  // it stays set otherwise
      std::size_t free = 0;
      std::size_t total = 0;
      cudaMemGetInfo(&free, &total);
      fail("cuda", "expected {} bytes of device memory, received none: {} of {} are free", bytes,
           free, total);
    }
    data_ = static_cast<T*>(memory);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    upload(values.data(), values.size());
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept : data_(other.data_), count_(other.count_) {
    other.data_ = nullptr;
    other.count_ = 0;
  }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

  void upload(const T* values, std::size_t count) {
    check(cudaMemcpy(data_, values, count * sizeof(T), cudaMemcpyHostToDevice),
          "copy to the device");
  }
  void download(T* values, std::size_t count) const {
    check(cudaMemcpy(values, data_, count * sizeof(T), cudaMemcpyDeviceToHost),
          "copy from the device");
  }
  void clear() { check(cudaMemset(data_, 0, count_ * sizeof(T)), "clear device memory"); }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace boolgrad::cuda
