// Memory behind tensors.
#pragma once

#include <cstddef>
#include <memory>

namespace boolgrad {

/// A block of memory, aligned to a cache line. Its bytes start out undefined.
///
/// Large blocks are kept when freed and handed out again, because fresh pages cost a page fault
/// every 4 KiB, which is more than most elementwise kernels spend on the same bytes.
class Storage {
 public:
  static std::shared_ptr<Storage> allocate(std::size_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  explicit Storage(std::size_t bytes);
  void* data_;
  std::size_t bytes_;
};

/// Returns the kept blocks to the system.
void release_cached_memory();

}  // namespace boolgrad
