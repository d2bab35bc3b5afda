// What an NVIDIA GPU can move, as measured: the ceilings that benchmarks are compared with.
#pragma once

namespace boolgrad::cuda {

struct MachineRates {
  double memory_gigabytes = 0;  ///< a second, read and written, copying what no cache holds
  double cache_gigabytes = 0;   ///< a second, read, out of the second-level cache
};

MachineRates measure_machine_rates();

}  // namespace boolgrad::cuda
