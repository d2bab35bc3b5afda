// Stands in for `backend/cuda` where it was not built.
#include "boolgrad/backend/cuda/network/network.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

std::unique_ptr<DeviceNetwork> make_network(int /*index*/, std::span<const LutWires> /*layers*/,
                                            const NetworkSpec& /*spec*/) {
  refuse();
}

}  // namespace boolgrad::cuda
