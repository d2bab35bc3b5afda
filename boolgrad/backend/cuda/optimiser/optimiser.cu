// Looks at all gradients, then updates all parameters.
//
// Whether anything is updated depends on every gradient, and no block can know what another has
// seen. Few gradients every block looks at by itself, in one launch; many are looked at by a launch
// of their own.
#include "boolgrad/backend/cuda/optimiser/arguments.h"
#include "boolgrad/backend/cuda/optimiser/update.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 512;
constexpr std::size_t few = 64 * 1024;  // gradients that each block looks at itself
constexpr int most_parts = 528;

/// The sum of what the threads of a block hold, known to all of them, in a fixed order.
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

/// The sum over some gradients of their squares, clipped by value; NaN where one is not finite.
__device__ double sum_of_squares(const UpdateCode& code, std::size_t first, std::size_t stride) {
  double sum = 0;
  bool finite = true;
  for (std::size_t i = first; i < code.count; i += stride) {
    const float gradient = code.gradients[i];
    finite = finite && is_finite(gradient);
    const double value = clipped(code.factors, gradient);
    sum += value * value;
  }
  return finite ? sum : NAN;
}

__global__ void __launch_bounds__(threads) look_at_gradients(const UpdateCode code) {
  const std::size_t place = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  const double sum =
      block_sum(sum_of_squares(code, place, gridDim.x * static_cast<std::size_t>(threads)));
  if (threadIdx.x == 0) code.part_sums[blockIdx.x] = sum;
}

__device__ double sum_of_all(const UpdateCode& code) {
  if (code.parts == 0) return block_sum(sum_of_squares(code, threadIdx.x, threads));
  double sum = 0;
  for (int part = threadIdx.x; part < code.parts; part += threads) sum += code.part_sums[part];
  return block_sum(sum);
}

__global__ void __launch_bounds__(threads) update(const UpdateCode code) {
  const double squares = sum_of_all(code);
  const bool finite = isfinite(squares) && (code.loss == nullptr || is_finite(*code.loss));
  if (blockIdx.x == 0 && threadIdx.x == 0) *code.finite = finite ? 1 : 0;
  if (!finite) return;
  const double norm = sqrt(squares);
  const bool scaled = code.clip_norm > 0 && norm > code.clip_norm;
  const float factor = scaled ? static_cast<float>(code.clip_norm / norm) : 1.0F;
  const std::size_t stride = gridDim.x * static_cast<std::size_t>(threads);
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x; i < code.count;
       i += stride) {
    float gradient = clipped(code.factors, code.gradients[i]);
    if (scaled) gradient = __fmul_rn(gradient, factor);
    gradient = noisy(code.factors, gradient, i);
    adamw(code.factors.adamw, code.parameters[i], code.first[i], code.second[i], gradient);
  }
}

}  // namespace

int update_parts(std::size_t count) {
  if (count <= few) return 0;
  const std::size_t wanted = (count + threads - 1) / threads;
  return wanted < most_parts ? static_cast<int>(wanted) : most_parts;
}

cudaError_t launch_update(const UpdateCode& code, cudaStream_t stream) {
  if (code.parts > 0) {
    look_at_gradients<<<static_cast<unsigned>(code.parts), threads, 0, stream>>>(code);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
  }
  // A few elements a thread where there are many.
  constexpr std::size_t most_blocks = 2112;
  const std::size_t wanted = (code.count + threads - 1) / threads;
  const unsigned blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  update<<<blocks == 0 ? 1 : blocks, threads, 0, stream>>>(code);
  return cudaGetLastError();
}

}  // namespace boolgrad::cuda
