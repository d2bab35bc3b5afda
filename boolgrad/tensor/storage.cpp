#include "boolgrad/tensor/storage.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t smallest_kept = std::size_t{1} << 16;
constexpr std::size_t max_kept = std::size_t{1} << 28;  // 256 MiB in all

// Sizes are rounded up to an eighth of their power of two: blocks can be reused, and at most an
// eighth of a block is wasted.
std::size_t rounded_size(std::size_t bytes) {
  std::size_t step = alignment;
  if (bytes >= smallest_kept) {
    std::size_t power = smallest_kept;
    while (power <= bytes / 2) power *= 2;
    step = power / 8;
  }
  return (bytes + step - 1) / step * step;
}

class BlockCache {
 public:
  void* take(std::size_t size) {
    if (size >= smallest_kept) {
      const std::lock_guard lock(mutex_);
      auto& blocks = kept_[size];
      if (!blocks.empty()) {
        void* block = blocks.back();
        blocks.pop_back();
        kept_bytes_ -= size;
        return block;
      }
    }
    void* block = std::aligned_alloc(alignment, size);
    if (block == nullptr) fail("storage", "out of memory: {} requested", bytes_text(size));
    return block;
  }

  void give(void* block, std::size_t size) {
    if (size >= smallest_kept) {
      const std::lock_guard lock(mutex_);
      if (kept_bytes_ + size <= max_kept) {
        kept_[size].push_back(block);
        kept_bytes_ += size;
        return;
      }
    }
    std::free(block);
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    for (auto& [size, blocks] : kept_) {
      for (void* block : blocks) std::free(block);
    }
    kept_.clear();
    kept_bytes_ = 0;
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> kept_;
  std::size_t kept_bytes_ = 0;
};

// Never destroyed: tensors in static storage may outlive every other object.
BlockCache& cache() {
  static auto* instance = new BlockCache();
  return *instance;
}

}  // namespace

Storage::Storage(std::size_t bytes)
    : data_(cache().take(rounded_size(bytes == 0 ? 1 : bytes))), bytes_(bytes) {}

Storage::Storage(void* data, std::size_t bytes, std::shared_ptr<void> owner)
    : data_(data), bytes_(bytes), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (!owner_) cache().give(data_, rounded_size(bytes_ == 0 ? 1 : bytes_));
}

std::shared_ptr<Storage> Storage::allocate(std::size_t bytes) {
  return std::shared_ptr<Storage>(new Storage(bytes));
}

std::shared_ptr<Storage> Storage::wrap(void* data, std::size_t bytes, std::shared_ptr<void> owner) {
  if (!owner) fail("storage", "expected an owner of the memory, received none");
  return std::shared_ptr<Storage>(new Storage(data, bytes, std::move(owner)));
}

void release_cached_memory() { cache().clear(); }

}  // namespace boolgrad
