// Learned wires: from candidates to slots, and back to their logits.
//
// Gradients are gathered: the gradient of an input is summed over its uses in a fixed order.
#include "boolgrad/backend/cuda/network/selection.h"

#include <type_traits>

#include "boolgrad/backend/cuda/network/products.cuh"
#include "boolgrad/backend/cuda/optimiser/update.cuh"
#include "boolgrad/backend/cuda/runtime/launch.cuh"

namespace boolgrad::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr unsigned all_lanes = 0xffffffffU;

/// Candidates whose dot products a warp computes at once.
constexpr int at_once = 16;

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(all_lanes, value, step);
  return value;
}

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(all_lanes, value, step));
  }
  return value;
}

__device__ __forceinline__ std::size_t row_vector(int row, RowShape rows, int vector) {
  return static_cast<std::size_t>(row) * (rows.stride / 4) + vector;
}

__device__ __forceinline__ int warp_of_grid() { return blockIdx.x * warps + threadIdx.x / 32; }

__device__ __forceinline__ int source_of(const WireLayer& wires, int slot, int k) {
  return wires.sources == nullptr ? k
                                  : wires.sources[static_cast<std::size_t>(slot) * wires.count + k];
}

/// The slot whose logits a slot has.
__device__ __forceinline__ int logit_slot(const WireLayer& wires, int slot) {
  if (wires.positions == 1) return slot;
  return slot / wires.arity / wires.positions * wires.arity + slot % wires.arity;
}

/// The slot at position `p` that has the logits of `logit_slot`.
__device__ __forceinline__ int slot_at(const WireLayer& wires, int logit_slot, int p) {
  const int table = logit_slot / wires.arity;
  return (table * wires.positions + p) * wires.arity + logit_slot % wires.arity;
}

/// A vector of the row of a source.
__device__ __forceinline__ float4 vector_of(const WireLayer& wires, const float4* x, int source,
                                            RowShape rows, int vector) {
  return source < wires.inputs ? x[row_vector(source, rows, vector)] : make_float4(0, 0, 0, 0);
}

/// One warp per slot with logits of its own.
__global__ void __launch_bounds__(threads) choose(const WireLayer wires) {
  allow_next_launch();
  wait_for_previous();
  const int slot = warp_of_grid();
  if (slot >= wires.logit_slots()) return;
  const int lane = threadIdx.x % 32;
  const float* logits = wires.logits + static_cast<std::size_t>(slot) * wires.count;
  float best = -INFINITY;
  int at = wires.count;
  for (int k = lane; k < wires.count; k += 32) {
    if (logits[k] > best) {
      best = logits[k];
      at = k;
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(all_lanes, best, step);
    const int index = __shfl_xor_sync(all_lanes, at, step);
    if (other > best || (other == best && index < at)) {
      best = other;
      at = index;
    }
  }
  // Without a largest logit, as on the CPU: the first.
  if (at >= wires.count) at = 0;
  for (int p = lane; p < wires.positions; p += 32) {
    const int own = slot_at(wires, slot, p);
    wires.chosen[own] = source_of(wires, own, at);
  }
}

/// The largest logit of a slot, and the sum of the exponentials relative to it.
struct Softmax {
  float largest, inverse, scale;

  __device__ Softmax(const float* logits, int count, float temperature_inverse)
      : scale(temperature_inverse) {
    const int lane = threadIdx.x % 32;
    float value = -INFINITY;
    for (int k = lane; k < count; k += 32) value = fmaxf(value, logits[k]);
    largest = warp_max(value);
    float sum = 0;
    for (int k = lane; k < count; k += 32) sum += expf((logits[k] - largest) * scale);
    inverse = 1 / warp_sum(sum);
  }
  __device__ __forceinline__ float at(float logit) const {
    return expf((logit - largest) * scale) * inverse;
  }
};

__global__ void __launch_bounds__(threads) weigh(const WireLayer wires, const StepState* state) {
  allow_next_launch();
  wait_for_previous();
  const int slot = warp_of_grid();
  if (slot >= wires.logit_slots()) return;
  const std::size_t first = static_cast<std::size_t>(slot) * wires.count;
  const Softmax softmax(wires.logits + first, wires.count, state->wire_scale);
  for (int k = threadIdx.x % 32; k < wires.count; k += 32) {
    wires.weights[first + k] = softmax.at(wires.logits[first + k]);
  }
}

/// A warp per slot copies the row of its source.
__global__ void __launch_bounds__(threads)
    copy_rows(const WireLayer wires, const float* x, RowShape rows, float* slots) {
  allow_next_launch();
  wait_for_previous();
  const int slot = warp_of_grid();
  if (slot >= wires.slots) return;
  const int source = wires.chosen[slot];
  const auto* from = reinterpret_cast<const float4*>(x);
  auto* to = reinterpret_cast<float4*>(slots);
  for (int v = threadIdx.x % 32; v < rows.vectors; v += 32) {
    to[row_vector(slot, rows, v)] = vector_of(wires, from, source, rows, v);
  }
}

__device__ __forceinline__ float4 plus_scaled(float4 sum, float factor, float4 value) {
  return make_float4(fmaf(factor, value.x, sum.x), fmaf(factor, value.y, sum.y),
                     fmaf(factor, value.z, sum.z), fmaf(factor, value.w, sum.w));
}

__global__ void __launch_bounds__(threads)
    mix_rows(const WireLayer wires, const float* x, RowShape rows, float* slots) {
  allow_next_launch();
  wait_for_previous();
  const int slot = warp_of_grid();
  if (slot >= wires.slots) return;
  const std::size_t first = static_cast<std::size_t>(slot) * wires.count;
  const float* weights =
      wires.weights + static_cast<std::size_t>(logit_slot(wires, slot)) * wires.count;
  const auto* from = reinterpret_cast<const float4*>(x);
  auto* to = reinterpret_cast<float4*>(slots);
  for (int v = threadIdx.x % 32; v < rows.vectors; v += 32) {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int k = 0; k < wires.count; ++k) {
      sum = plus_scaled(sum, weights[k], vector_of(wires, from, wires.sources[first + k], rows, v));
    }
    to[row_vector(slot, rows, v)] = sum;
  }
}

/// Sums of `at_once` values over the lanes of a warp. In each exchange a lane hands over half of
/// its values. Afterwards lanes 2 i and 2 i + 1 hold sum i.
__device__ __forceinline__ float sum_many(float (&value)[at_once], int lane) {
#pragma unroll
  for (int half = at_once / 2, step = 16; half > 0; half /= 2, step /= 2) {
    const bool upper = (lane & step) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const float kept = upper ? value[i + half] : value[i];
      const float given = upper ? value[i] : value[i + half];
      value[i] = kept + __shfl_xor_sync(all_lanes, given, step);
    }
  }
  return value[0] + __shfl_xor_sync(all_lanes, value[0], 1);
}

/// Where the sums of the candidates of every slot go.
__device__ __forceinline__ float* slot_sums(const SelectionBackward& arguments) {
  return arguments.slot_sums != nullptr ? arguments.slot_sums : arguments.gradients;
}

/// The sums over samples of g times each candidate: a warp per slot, `at_once` candidates at a
/// time.
__global__ void __launch_bounds__(threads)
    sum_candidates(const SelectionBackward arguments, RowShape rows) {
  allow_next_launch();
  wait_for_previous();
  const WireLayer& wires = arguments.wires;
  const int slot = warp_of_grid();
  if (slot >= wires.slots) return;
  const int lane = threadIdx.x % 32;
  const std::size_t first = static_cast<std::size_t>(slot) * wires.count;
  const auto* x = reinterpret_cast<const float4*>(arguments.x);
  const auto* g = reinterpret_cast<const float4*>(arguments.g);
  float* to = slot_sums(arguments);
  for (int begin = 0; begin < wires.count; begin += at_once) {
    int source[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      source[i] = wires.sources[first + min(begin + i, wires.count - 1)];
    }
    float sums[at_once] = {};
    for (int v = lane; v < rows.vectors; v += 32) {
      const float4 own = g[row_vector(slot, rows, v)];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const float4 value = vector_of(wires, x, source[i], rows, v);
        sums[i] = fmaf(own.x, value.x,
                       fmaf(own.y, value.y, fmaf(own.z, value.z, fmaf(own.w, value.w, sums[i]))));
      }
    }
    const float sum = sum_many(sums, lane);
    const int k = begin + lane / 2;
    if (lane % 2 == 0 && k < wires.count) to[first + k] = sum;
  }
}

/// The same for inputs that are 0 or 1: a lane has eight samples, and adds those whose bit is set.
/// Rows of bits take a thirty-second of the memory traffic.
__global__ void __launch_bounds__(threads)
    sum_candidate_bits(const SelectionBackward arguments, RowShape rows) {
  constexpr int samples_per_lane = 8;
  constexpr int samples_per_warp = 32 * samples_per_lane;
  allow_next_launch();
  wait_for_previous();
  const WireLayer& wires = arguments.wires;
  const int slot = warp_of_grid();
  if (slot >= wires.slots) return;
  const int lane = threadIdx.x % 32;
  const std::size_t first = static_cast<std::size_t>(slot) * wires.count;
  const std::size_t row_bytes = (rows.samples + 31) / 32 * 4;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(arguments.bits);
  const float* g = arguments.g + static_cast<std::size_t>(slot) * rows.stride;
  float* to = slot_sums(arguments);
  for (int begin = 0; begin < wires.count; begin += at_once) {
    float sums[at_once] = {};
    for (int block = 0; block < rows.samples; block += samples_per_warp) {
      const int own_sample = block + lane * samples_per_lane;
      if (own_sample >= rows.samples) continue;
      float own[samples_per_lane];
#pragma unroll
      for (int j = 0; j < samples_per_lane; ++j) {
        own[j] = own_sample + j < rows.samples ? g[own_sample + j] : 0;
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const int source = wires.sources[first + min(begin + i, wires.count - 1)];
        const unsigned byte =
            source < wires.inputs ? bytes[source * row_bytes + own_sample / samples_per_lane] : 0U;
#pragma unroll
        for (int j = 0; j < samples_per_lane; ++j) {
          const unsigned mask = 0U - ((byte >> j) & 1U);
          sums[i] += __uint_as_float(__float_as_uint(own[j]) & mask);
        }
      }
    }
    const float sum = sum_many(sums, lane);
    const int k = begin + lane / 2;
    if (lane % 2 == 0 && k < wires.count) to[first + k] = sum;
  }
}

/// Sums over the slots that share logits: a warp per candidate, its lanes over positions.
__global__ void __launch_bounds__(threads) add_slots(const SelectionBackward arguments) {
  allow_next_launch();
  wait_for_previous();
  const WireLayer& wires = arguments.wires;
  const int candidate = warp_of_grid();
  if (candidate >= wires.logit_slots() * wires.count) return;
  const int lane = threadIdx.x % 32;
  float sum = 0;
  for (int p = lane; p < wires.positions; p += 32) {
    const int slot = slot_at(wires, candidate / wires.count, p);
    sum +=
        arguments.slot_sums[static_cast<std::size_t>(slot) * wires.count + candidate % wires.count];
  }
  sum = warp_sum(sum);
  if (lane == 0) arguments.gradients[candidate] = sum;
}

/// From the sums G to the gradients of the logits, p (G - sum p G) factor / temperature, in place.
__global__ void __launch_bounds__(threads) finish_logits(const SelectionBackward arguments) {
  allow_next_launch();
  wait_for_previous();
  const WireLayer& wires = arguments.wires;
  const int slot = warp_of_grid();
  if (slot >= wires.logit_slots()) return;
  const int lane = threadIdx.x % 32;
  const std::size_t first = static_cast<std::size_t>(slot) * wires.count;
  const float* logits = wires.logits + first;
  float* g = arguments.gradients + first;
  const float scale = arguments.state->wire_scale;
  const Softmax softmax(logits, wires.count, scale);
  float mean = 0;
  for (int k = lane; k < wires.count; k += 32) mean += softmax.at(logits[k]) * g[k];
  mean = warp_sum(mean);
  bool finite = true;
  for (int k = lane; k < wires.count; k += 32) {
    const float gradient = softmax.at(logits[k]) * (g[k] - mean) * (wires.factor * scale);
    finite = finite && is_finite(gradient);
    g[k] = gradient;
  }
  if (!finite) *arguments.not_finite = arguments.state->stamp;
}

/// Gradients of inputs. A warp per input and chunk of samples; each of its uses is a candidate,
/// which counts if it is chosen, or with its weight.
__global__ void __launch_bounds__(threads)
    gather_uses(const SelectionBackward arguments, RowShape rows) {
  allow_next_launch();
  wait_for_previous();
  const WireLayer& wires = arguments.wires;
  const int input = warp_of_grid();
  const int v = blockIdx.y * (chunk_samples / 4) + threadIdx.x % 32;
  if (input >= wires.inputs) return;
  const bool has_vector = v < rows.vectors;
  const bool is_hard = wires.weights == nullptr;
  const auto* g = reinterpret_cast<const float4*>(arguments.g);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = wires.first_use[input]; i < wires.first_use[input + 1]; ++i) {
    const int candidate = wires.uses[i];
    const int slot = candidate / wires.count;
    if (is_hard && wires.chosen[slot] != input) continue;
    const std::size_t weight =
        static_cast<std::size_t>(logit_slot(wires, slot)) * wires.count + candidate % wires.count;
    const float factor = is_hard ? 1.0F : wires.weights[weight];
    if (has_vector) sum = plus_scaled(sum, factor, g[row_vector(slot, rows, v)]);
  }
  if (has_vector) reinterpret_cast<float4*>(arguments.gx)[row_vector(input, rows, v)] = sum;
}

/// The same if all inputs are candidates and wires are hard: every warp reads all choices.
__global__ void __launch_bounds__(threads)
    gather_chosen(const SelectionBackward arguments, RowShape rows) {
  allow_next_launch();
  wait_for_previous();
  const WireLayer& wires = arguments.wires;
  const int input = warp_of_grid();
  const int lane = threadIdx.x % 32;
  const int v = blockIdx.y * (chunk_samples / 4) + lane;
  if (input >= wires.inputs) return;
  const bool has_vector = v < rows.vectors;
  const auto* g = reinterpret_cast<const float4*>(arguments.g);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int first = 0; first < wires.slots; first += 32) {
    const int slot = first + lane;
    unsigned found = __ballot_sync(all_lanes, slot < wires.slots && wires.chosen[slot] == input);
    for (; found != 0; found &= found - 1) {
      const int one = first + __ffs(static_cast<int>(found)) - 1;
      if (has_vector) sum = plus_scaled(sum, 1, g[row_vector(one, rows, v)]);
    }
  }
  if (has_vector) reinterpret_cast<float4*>(arguments.gx)[row_vector(input, rows, v)] = sum;
}

dim3 warp_grid(int count, int chunks = 1) {
  return {static_cast<unsigned>((count + warps - 1) / warps), static_cast<unsigned>(chunks)};
}

}  // namespace

cudaError_t choose_wires(const WireLayer& wires, cudaStream_t stream) {
  return launch(choose, warp_grid(wires.logit_slots()), threads, 0, stream, wires);
}

cudaError_t weigh_wires(const WireLayer& wires, const StepState* state, cudaStream_t stream) {
  return launch(weigh, warp_grid(wires.logit_slots()), threads, 0, stream, wires, state);
}

cudaError_t select_slots(const WireLayer& wires, const float* x, RowShape rows, float* slots,
                         cudaStream_t stream) {
  if (wires.weights == nullptr) {
    return launch(copy_rows, warp_grid(wires.slots), threads, 0, stream, wires, x, rows, slots);
  }
  if (wires.sources != nullptr) {
    return launch(mix_rows, warp_grid(wires.slots), threads, 0, stream, wires, x, rows, slots);
  }
  return launch_product<true, false>({.m = wires.slots,
                                      .n = rows.vectors * 4,
                                      .k = wires.inputs,
                                      .a = wires.weights,
                                      .b = x,
                                      .c = slots,
                                      .a_row = wires.count,
                                      .b_row = rows.stride,
                                      .c_row = rows.stride},
                                     stream);
}

cudaError_t selection_backward(const SelectionBackward& arguments, RowShape rows,
                               cudaStream_t stream) {
  const WireLayer& wires = arguments.wires;
  const bool has_all = wires.sources == nullptr;
  cudaError_t error = has_all
                          ? launch_product<true, true>({.m = wires.slots,
                                                        .n = wires.inputs,
                                                        .k = rows.samples,
                                                        .a = arguments.g,
                                                        .b = arguments.x,
                                                        .c = arguments.gradients,
                                                        .a_row = rows.stride,
                                                        .b_row = rows.stride,
                                                        .c_row = wires.count},
                                                       stream)
                          : launch(arguments.bits != nullptr ? sum_candidate_bits : sum_candidates,
                                   warp_grid(wires.slots), threads, 0, stream, arguments, rows);
  if (error != cudaSuccess) return error;
  if (arguments.slot_sums != nullptr) {
    error = launch(add_slots, warp_grid(wires.logit_slots() * wires.count), threads, 0, stream,
                   arguments);
    if (error != cudaSuccess) return error;
  }
  error = launch(finish_logits, warp_grid(wires.logit_slots()), threads, 0, stream, arguments);
  if (error != cudaSuccess || arguments.gx == nullptr) return error;
  if (!has_all) {
    return launch(gather_uses, warp_grid(wires.inputs, rows.chunks), threads, 0, stream, arguments,
                  rows);
  }
  if (wires.weights == nullptr) {
    return launch(gather_chosen, warp_grid(wires.inputs, rows.chunks), threads, 0, stream,
                  arguments, rows);
  }
  return launch_product<false, false>({.m = wires.inputs,
                                       .n = rows.vectors * 4,
                                       .k = wires.slots,
                                       .a = wires.weights,
                                       .b = arguments.g,
                                       .c = arguments.gx,
                                       .a_row = wires.count,
                                       .b_row = rows.stride,
                                       .c_row = rows.stride},
                                      stream);
}

}  // namespace boolgrad::cuda
