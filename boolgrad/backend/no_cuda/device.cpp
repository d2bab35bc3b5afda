// Stands in for `backend/cuda` where it was not built.
#include "boolgrad/backend/cuda/device.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

std::string unavailable() {
  return "boolgrad was built without CUDA: no CUDA compiler was found, or none was wanted";
}

std::string device_description() { refuse(); }

}  // namespace boolgrad::cuda
