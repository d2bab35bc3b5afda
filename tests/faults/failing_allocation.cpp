// A library to preload: the allocation number FAIL_ALLOCATION fails, once. With FAIL_ALLOCATION=0
// none does, and the number of allocations is written to the file ALLOCATION_COUNT at the end.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

// NOLINTBEGIN: names and parameters are those of the C library.

extern "C" {
// The C library's own functions, under the names by which it calls them itself. `dlsym` would
// allocate.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

std::atomic<long> allocations = 0;

/// The number of the allocation that fails. Reading the environment does not allocate.
long failing() {
  static const char* const text = std::getenv("FAIL_ALLOCATION");
  static const long number = text == nullptr ? 0 : std::atol(text);
  return number;
}

bool fails() {
  if (++allocations != failing()) return false;
  errno = ENOMEM;
  return true;
}

[[gnu::destructor]] void write_count() {
  const char* const path = std::getenv("ALLOCATION_COUNT");
  if (path == nullptr) return;
  const long count = allocations;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return;
  std::fprintf(file, "%ld", count);
  std::fclose(file);
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return fails() ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return fails() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
  return fails() ? nullptr : __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  if (fails()) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

// NOLINTEND
