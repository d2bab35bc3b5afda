#include "boolgrad/backend/cuda/runtime/machine_rates.h"

#include <algorithm>

#include "boolgrad/backend/cuda/runtime/check.h"
#include "boolgrad/backend/cuda/runtime/machine_rates_arguments.h"

namespace boolgrad::cuda {
namespace {

constexpr int attempts = 10;

/// The shortest of several measurements, in seconds.
template <class F>
double least_seconds(F launch) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "create an event");
  check(cudaEventCreate(&end), "create an event");
  float least = 0;
  for (int i = 0; i < attempts; ++i) {
    check(cudaEventRecord(begin), "record an event");
    check(launch(), "measure the bandwidth");
    check(cudaEventRecord(end), "record an event");
    check(cudaEventSynchronize(end), "measure the bandwidth");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "read an event");
    least = i == 0 ? milliseconds : std::min(least, milliseconds);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return static_cast<double>(least) * 1e-3;
}

}  // namespace

MachineRates measure_machine_rates() {
  constexpr std::size_t large = std::size_t{1} << 26;  // vectors: 1 GB, larger than any cache
  constexpr std::size_t small = std::size_t{1} << 20;  // 16 MB: fits in the L2 cache
  constexpr int rounds = 20;
  DeviceArray<float4> from(large);
  const DeviceArray<float4> to(std::max(large, read_results()));
  from.clear();
  const double copying = least_seconds([&] { return launch_copy(from.data(), to.data(), large); });
  const double reading =
      least_seconds([&] { return launch_reads(from.data(), to.data(), small, rounds); });
  constexpr double gigabyte = 1e-9;
  return {
      .memory_gigabytes = 2.0 * large * sizeof(float4) * gigabyte / copying,
      .cache_gigabytes = static_cast<double>(rounds) * small * sizeof(float4) * gigabyte / reading};
}

}  // namespace boolgrad::cuda
