// Replaces `backend/cuda` in builds without it.
#include "boolgrad/backend/cuda/runtime/memory.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

void* allocate(std::size_t /*bytes*/) { refuse(); }
void release(void* /*memory*/) noexcept {}
void* allocate_pinned(std::size_t /*bytes*/) { refuse(); }
void release_pinned(void* /*memory*/) noexcept {}
void copy_to_device(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) { refuse(); }
void copy_to_host(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) { refuse(); }
void clear(void* /*memory*/, std::size_t /*bytes*/) { refuse(); }

}  // namespace boolgrad::cuda
