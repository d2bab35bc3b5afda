#include "boolgrad/backend/cuda/runtime/memory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "boolgrad/backend/cuda/runtime/check.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cuda {
namespace {

/// The blocks that are in use and those that are kept for the next request, by device. Never
/// destroyed: the driver takes all memory back when the process ends, and arrays may outlive this
/// file's objects.
class Pool {
 public:
  /// Of the device that the thread has selected.
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    int device = 0;
    check(cudaGetDevice(&device), "find the device");
    Block block = kept_block(device, bytes);
    if (block.memory == nullptr) block = new_block(device, bytes);
    taken_.emplace(block.memory, Taken{block.bytes, device});
    return block.memory;
  }

  void give_back(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = taken_.find(memory);
    kept_[found->second.device].emplace(found->second.bytes, memory);
    taken_.erase(found);
  }

 private:
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  struct Taken {
    std::size_t bytes;
    int device;
  };
  using Kept = std::multimap<std::size_t, void*>;

  // A block more than twice as large as needed is left to those who need it.
  Block kept_block(int device, std::size_t bytes) {
    Kept& kept = kept_[device];
    const auto found = kept.lower_bound(bytes);
    if (found == kept.end() || found->first > 2 * bytes) return {};
    check(cudaDeviceSynchronize(), "finish what was launched");
    const Block block{found->second, found->first};
    kept.erase(found);
    return block;
  }

  Block new_block(int device, std::size_t bytes) {
    void* memory = nullptr;
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // it stays set otherwise
      free_kept(device);
      error = cudaMalloc(&memory, bytes);
    }
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      std::size_t free = 0;
      std::size_t total = 0;
      check(cudaMemGetInfo(&free, &total), "ask for the free memory");
      fail("cuda", "out of device memory: {} requested, {} of {} free", bytes_text(bytes),
           bytes_text(free), bytes_text(total));
    }
    check(error, "allocate device memory");
    return {memory, bytes};
  }

  void free_kept(int device) {
    for (const auto& [bytes, memory] : kept_[device]) check(cudaFree(memory), "free device memory");
    kept_[device].clear();
  }

  std::mutex mutex_;
  std::map<void*, Taken> taken_;
  std::map<int, Kept> kept_;
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
