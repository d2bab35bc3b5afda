#include "boolgrad/backend/cuda/runtime/memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "boolgrad/backend/cuda/runtime/check.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cuda {
namespace {

/// The blocks that somebody has and those that nobody has. Never destroyed: the driver takes all
/// memory back when the process ends, and arrays may outlive this file's objects.
class Pool {
 public:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    void* memory = kept_block(bytes);
    if (memory == nullptr) memory = new_block(bytes);
    return memory;
  }

  void give_back(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = taken_.find(memory);
    kept_.emplace(found->second, memory);
    taken_.erase(found);
  }

 private:
  // A block more than twice as large as needed is left to those who need it.
  void* kept_block(std::size_t bytes) {
    const auto found = kept_.lower_bound(bytes);
    if (found == kept_.end() || found->first > 2 * bytes) return nullptr;
    check(cudaDeviceSynchronize(), "finish what was launched");
    void* memory = found->second;
    taken_.emplace(memory, found->first);
    kept_.erase(found);
    return memory;
  }

  void* new_block(std::size_t bytes) {
    void* memory = nullptr;
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // it stays set otherwise
      free_kept();
      error = cudaMalloc(&memory, bytes);
    }
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      std::size_t free = 0;
      std::size_t total = 0;
      check(cudaMemGetInfo(&free, &total), "ask for the free memory");
      fail("cuda", "expected {} of device memory, received none: {} of {} are free",
           bytes_text(bytes), bytes_text(free), bytes_text(total));
    }
    check(error, "allocate device memory");
    taken_.emplace(memory, bytes);
    return memory;
  }

  void free_kept() {
    for (const auto& [bytes, memory] : kept_) check(cudaFree(memory), "free device memory");
    kept_.clear();
  }

  std::mutex mutex_;
  std::map<void*, std::size_t> taken_;
  std::multimap<std::size_t, void*> kept_;
};

Pool& pool() {
  static auto* const pool = new Pool;
  return *pool;
}

}  // namespace

void* allocate(std::size_t bytes) { return pool().take(std::max<std::size_t>(bytes, 1)); }

void release(void* memory) noexcept {
  if (memory != nullptr) pool().give_back(memory);
}

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocDefault),
        "allocate memory of the host");
  std::memset(memory, 0, bytes);
  return memory;
}

void release_pinned(void* memory) noexcept {
  if (memory != nullptr) cudaFreeHost(memory);
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to the device");
}

void copy_to_host(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy from the device");
}

void clear(void* memory, std::size_t bytes) {
  check(cudaMemset(memory, 0, bytes), "clear device memory");
}

}  // namespace boolgrad::cuda
