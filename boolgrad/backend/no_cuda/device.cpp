// Replaces `backend/cuda` in builds without it.
#include "boolgrad/backend/cuda/runtime/device.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

int device_count() { return 0; }

std::string unavailable(int /*index*/) {
  return "boolgrad was built without CUDA (no CUDA compiler was found, or BOOLGRAD_USE_CUDA is "
         "off)";
}

void select_device(int /*index*/) { refuse(); }

std::string device_description(int /*index*/) { refuse(); }

}  // namespace boolgrad::cuda
