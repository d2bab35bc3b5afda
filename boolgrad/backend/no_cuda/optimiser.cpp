// Replaces `backend/cuda` in builds without it.
#include "boolgrad/backend/cuda/optimiser/optimiser.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

Optimiser::Optimiser(std::size_t /*count*/, const AdamWOptions& /*options*/) { refuse(); }
void Optimiser::step(float* /*parameters*/, const float* /*gradients*/, const float* /*loss*/,
                     std::int64_t /*step*/, double /*learning_rate*/, Stream /*stream*/) {
  refuse();
}

}  // namespace boolgrad::cuda
