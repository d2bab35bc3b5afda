// Kernels that measure bandwidths. Internal to `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace boolgrad::cuda {

cudaError_t launch_copy(const float4* from, float4* to, std::size_t count);

/// Reads `count` values `rounds` times and stores `read_results()` sums in `to`.
cudaError_t launch_reads(const float4* from, float4* to, std::size_t count, int rounds);
std::size_t read_results();

}  // namespace boolgrad::cuda
