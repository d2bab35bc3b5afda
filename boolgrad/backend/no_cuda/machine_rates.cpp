// Replaces `backend/cuda` in builds without it.
#include "boolgrad/backend/cuda/runtime/machine_rates.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

MachineRates measure_machine_rates() { refuse(); }

}  // namespace boolgrad::cuda
