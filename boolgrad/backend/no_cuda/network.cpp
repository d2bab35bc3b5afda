// Replaces `backend/cuda` in builds without it.
#include "boolgrad/backend/cuda/network/network.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

std::unique_ptr<DeviceNetwork> make_network(int /*index*/, std::span<const LutWires> /*layers*/,
                                            const NetworkSpec& /*spec*/) {
  refuse();
}

}  // namespace boolgrad::cuda
