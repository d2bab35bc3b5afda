// Measured bandwidths of an NVIDIA GPU: the upper bounds for benchmarks.
#pragma once

namespace boolgrad::cuda {

struct MachineRates {
  double memory_gigabytes = 0;  ///< GB/s, read plus written, for copies larger than any cache
  double cache_gigabytes = 0;   ///< GB/s, read from the L2 cache
};

MachineRates measure_machine_rates();

}  // namespace boolgrad::cuda
