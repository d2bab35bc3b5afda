// Measured peak rates of the machine, as reference for benchmarks.
#pragma once

namespace boolgrad::cpu {

/// Peak rates of a machine.
struct MachineRates {
  double gflops = 0;     ///< float32 GFLOP/s; a fused multiply-add counts as two operations
  double gigabytes = 0;  ///< memory bandwidth in GB/s, copying arrays larger than the caches
};

/// Measures the rates on all threads of parallel loops. Takes about half a second.
MachineRates measure_machine_rates();

}  // namespace boolgrad::cpu
