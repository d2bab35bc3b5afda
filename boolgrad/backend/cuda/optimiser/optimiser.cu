// Checks all gradients, then updates all parameters.
//
// The update depends on every gradient: it is skipped if one of them is not finite, and clipping
// needs their norm. If there are few gradients, each block reads all of them, in one launch.
// Otherwise a first launch computes partial sums.
#include "boolgrad/backend/cuda/optimiser/arguments.h"
#include "boolgrad/backend/cuda/optimiser/update.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 512;
constexpr std::size_t max_unsplit = 64 * 1024;  // gradients that every block can read by itself
constexpr int max_parts = 528;

/// The sum over the threads of a block, returned to all of them, in a fixed order.
__device__ double block_sum(double value) {
  __shared__ double sums[threads];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  const double total = sums[0];
  __syncthreads();
  return total;
}

/// The sum of squared gradients, after clipping by value. NaN if one is not finite.
__device__ double sum_of_squares(const OptimiserArguments& arguments, std::size_t first,
                                 std::size_t stride) {
  double sum = 0;
  bool finite = true;
  for (std::size_t i = first; i < arguments.count; i += stride) {
    const float gradient = arguments.gradients[i];
    finite = finite && is_finite(gradient);
    const double value = clipped(arguments.factors, gradient);
    sum += value * value;
  }
  return finite ? sum : NAN;
}

__global__ void __launch_bounds__(threads)
    sum_squares_in_parts(const OptimiserArguments arguments) {
  const std::size_t first = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  const double sum =
      block_sum(sum_of_squares(arguments, first, gridDim.x * static_cast<std::size_t>(threads)));
  if (threadIdx.x == 0) arguments.part_sums[blockIdx.x] = sum;
}

__device__ double sum_of_all(const OptimiserArguments& arguments) {
  if (arguments.parts == 0) return block_sum(sum_of_squares(arguments, threadIdx.x, threads));
  double sum = 0;
  for (int part = threadIdx.x; part < arguments.parts; part += threads)
    sum += arguments.part_sums[part];
  return block_sum(sum);
}

__global__ void __launch_bounds__(threads) update(const OptimiserArguments arguments) {
  const double squares = sum_of_all(arguments);
  const bool finite =
      isfinite(squares) && (arguments.loss == nullptr || is_finite(*arguments.loss));
  if (blockIdx.x == 0 && threadIdx.x == 0) *arguments.finite = finite ? 1 : 0;
  if (!finite) return;
  const double norm = sqrt(squares);
  const bool scaled = arguments.clip_norm > 0 && norm > arguments.clip_norm;
  const float factor = scaled ? static_cast<float>(arguments.clip_norm / norm) : 1.0F;
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(threads);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
       i < arguments.count; i += stride) {
    float gradient = clipped(arguments.factors, arguments.gradients[i]);
    if (scaled) gradient = __fmul_rn(gradient, factor);
    gradient = noisy(arguments.factors, gradient, i);
    adamw(arguments.factors.adamw, arguments.parameters[i], arguments.first[i], arguments.second[i],
          gradient);
  }
}

}  // namespace

int update_parts(std::size_t count) {
  if (count <= max_unsplit) return 0;
  const std::size_t needed = (count + threads - 1) / threads;
  return needed < max_parts ? static_cast<int>(needed) : max_parts;
}

cudaError_t launch_update(const OptimiserArguments& arguments, cudaStream_t stream) {
  if (arguments.parts > 0) {
    sum_squares_in_parts<<<static_cast<unsigned>(arguments.parts), threads, 0, stream>>>(arguments);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
  }
  // Several elements per thread if there are many.
  constexpr std::size_t max_blocks = 2112;
  const std::size_t needed = (arguments.count + threads - 1) / threads;
  const unsigned blocks = static_cast<unsigned>(needed < max_blocks ? needed : max_blocks);
  update<<<blocks == 0 ? 1 : blocks, threads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

}  // namespace boolgrad::cuda
