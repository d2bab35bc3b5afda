// Programmatic dependent launches. Internal to `cuda/`.
//
// A step of a network is a dozen short launches, each of which needs the results of the previous
// one. From compute capability 9.0 on, the blocks of the next launch may start and load constant
// data while the last blocks of the previous one still run.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>

namespace boolgrad::cuda {

/// Allows the next launch to start as soon as there is room.
__device__ __forceinline__ void allow_next_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits until all previous launches have finished. Every kernel launched here must call it, so
/// that the end of one implies the end of all before it.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Whether the selected device supports this. Queried once per device.
inline bool device_overlaps_launches() {
  constexpr int remembered = 64;
  static std::atomic<signed char> known[remembered];  // 0: unknown, 1: yes, -1: no
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  if (device < remembered && known[device] != 0) return known[device] > 0;
  int major = 0;
  const bool overlaps =
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
      major >= 9;
  if (device < remembered) known[device] = overlaps ? 1 : -1;
  return overlaps;
}

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 blocks, unsigned threads,
                   std::size_t shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = device_overlaps_launches() ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

}  // namespace boolgrad::cuda
