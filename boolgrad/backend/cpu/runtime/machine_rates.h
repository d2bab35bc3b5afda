// What this machine can do at most, measured: the yardstick for benchmarks.
#pragma once

namespace boolgrad::cpu {

struct MachineRates {
  double gflops = 0;     ///< float32 operations a second, a fused multiply-add counting two
  double gigabytes = 0;  ///< bytes a second to and from memory, copying arrays far beyond caches
};

/// Measured on the threads that parallel loops use. Takes about half a second.
MachineRates measure_machine_rates();

}  // namespace boolgrad::cpu
