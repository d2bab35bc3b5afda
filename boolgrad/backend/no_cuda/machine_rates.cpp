// Stands in for `backend/cuda` where it was not built.
#include "boolgrad/backend/cuda/runtime/machine_rates.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

MachineRates measure_machine_rates() { refuse(); }

}  // namespace boolgrad::cuda
