#include "boolgrad/backend/cuda/runtime/memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "boolgrad/backend/cuda/runtime/check.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cuda {
namespace {

/// Blocks in use, and free blocks cached for the next request, by device. Never destroyed: the
/// driver releases all memory when the process ends, and arrays may outlive static objects.
class Pool {
 public:
  /// On the current device of this thread.
  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    int device = 0;
    check(cudaGetDevice(&device), "query the current device");
    Block block = cached_block(device, bytes);
    if (block.memory == nullptr) block = new_block(device, bytes);
    used_.emplace(block.memory, Used{block.bytes, device});
    return block.memory;
  }

  void release(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(memory);
    cached_[found->second.device].emplace(found->second.bytes, memory);
    used_.erase(found);
  }

 private:
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  struct Used {
    std::size_t bytes;
    int device;
  };
  using Cached = std::multimap<std::size_t, void*>;

  // Blocks more than twice as large as needed are left for larger requests.
  Block cached_block(int device, std::size_t bytes) {
    Cached& cached = cached_[device];
    const auto found = cached.lower_bound(bytes);
    if (found == cached.end() || found->first > 2 * bytes) return {};
    check(cudaDeviceSynchronize(), "wait for the device");
    const Block block{found->second, found->first};
    cached.erase(found);
    return block;
  }

  Block new_block(int device, std::size_t bytes) {
    void* memory = nullptr;
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // clears the sticky error
      free_cached(device);
      error = cudaMalloc(&memory, bytes);
    }
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      std::size_t free = 0;
      std::size_t total = 0;
      check(cudaMemGetInfo(&free, &total), "query the free memory");
      fail("cuda", "out of device memory: {} requested, {} of {} free", bytes_text(bytes),
           bytes_text(free), bytes_text(total));
    }
    check(error, "allocate device memory");
    return {memory, bytes};
  }

  void free_cached(int device) {
    for (const auto& [bytes, memory] : cached_[device])
      check(cudaFree(memory), "free device memory");
    cached_[device].clear();
  }

  std::mutex mutex_;
  std::map<void*, Used> used_;
  std::map<int, Cached> cached_;
};

Pool& pool() {
  static auto* const pool = new Pool;
  return *pool;
}

}  // namespace

void* allocate(std::size_t bytes) { return pool().allocate(std::max<std::size_t>(bytes, 1)); }

void release(void* memory) noexcept {
  if (memory != nullptr) pool().release(memory);
}

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error =
      cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // clears the sticky error
    fail("cuda", "out of pinned host memory: {} requested", bytes_text(bytes));
  }
  check(error, "allocate pinned host memory");
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
