// Tensor memory.
#pragma once

#include <cstddef>
#include <memory>

namespace boolgrad {

/// A block of uninitialised memory, aligned to a cache line.
///
/// Large blocks are cached when freed and reused. A fresh block costs a page fault every 4 KiB,
/// which takes longer than most elementwise kernels on the same bytes.
class Storage {
 public:
  /// Allocates `bytes` bytes. Throws if there is not enough memory.
  static std::shared_ptr<Storage> allocate(std::size_t bytes);
  /// Wraps memory that belongs to `owner`, which is kept alive. The memory may have any alignment.
  static std::shared_ptr<Storage> wrap(void* data, std::size_t bytes, std::shared_ptr<void> owner);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  /// The start of the block.
  void* data() { return data_; }
  /// The size of the block.
  std::size_t bytes() const { return bytes_; }

 private:
  explicit Storage(std::size_t bytes);
  Storage(void* data, std::size_t bytes, std::shared_ptr<void> owner);
  void* data_;
  std::size_t bytes_;
  std::shared_ptr<void> owner_;  ///< of wrapped memory
};

/// Returns all cached blocks to the system.
void release_cached_memory();

}  // namespace boolgrad
