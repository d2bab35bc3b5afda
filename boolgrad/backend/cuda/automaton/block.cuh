// The working set of one thread block, and synchronisation between blocks. Internal to `cuda/`.
#pragma once

#include "boolgrad/backend/cuda/automaton/arguments.h"
#include "boolgrad/backend/cuda/automaton/words.cuh"

namespace boolgrad::cuda::automata {

__device__ __forceinline__ unsigned acquired(const unsigned* at) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

/// Counters continue from launch to launch and may wrap.
__device__ __forceinline__ bool is_before(unsigned count, unsigned expected) {
  return static_cast<int>(count - expected) < 0;
}

/// Grid-wide barrier. The launch keeps all blocks resident.
inline __device__ void wait_for_all(const KernelArguments& args, unsigned& waits) {
  ++waits;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(args.barrier, 1U);
    while (is_before(acquired(args.barrier), waits * gridDim.x)) {
    }
  }
  __syncthreads();
}

__device__ __forceinline__ int threads() { return static_cast<int>(blockDim.x); }
__device__ __forceinline__ int warps() { return static_cast<int>(blockDim.x) / 32; }

/// What is known at compile time: whether activations and edges are in shared memory, whether
/// tables are, and the row length if each thread has one gate per layer (2^kRowBits times four
/// cells; kRowBits < 0 if a thread may have more).
template <bool kWork, bool kTables, int kRowBits>
struct Variant {
  static constexpr bool work_is_shared = kWork;
  static constexpr bool tables_are_shared = kTables;
  static constexpr bool one_gate = kRowBits >= 0;
  enum : int { row_bits = kRowBits >= 0 ? kRowBits : 0, held = 0, threads = max_threads };
  enum : int { kernels = 0, columns = 0 };
  static constexpr bool holds_coefficients = false;
  static constexpr bool spreads_trees = false;
};

/// The fastest variant. A thread has four cells of one gate in each of up to kHeld wide layers of
/// the update, and of one gate in the narrow layers after them. It keeps the wires and sums of
/// those gates in registers, and the coefficients if there are enough registers.
///
/// The number of kernels and of patch columns may be fixed too; 0 means any.
template <int kHeld, int kThreads, bool kCoefficients, int kKernels = 0, int kColumns = 0>
struct HeldVariant {
  static constexpr bool work_is_shared = true;
  static constexpr bool tables_are_shared = true;
  enum : int { held = kHeld, threads = kThreads };
  enum : int { kernels = kKernels, columns = kColumns };
  static constexpr bool holds_coefficients = kCoefficients;
  /// Whether tree sums are computed through shared memory; else by warp shuffles.
  static constexpr bool spreads_trees = kCoefficients;
};

template <class F>
__device__ __forceinline__ int kernels_of(const KernelArguments& args) {
  return F::kernels > 0 ? F::kernels : args.kernels;
}
template <class F>
__device__ __forceinline__ int columns_of(const KernelArguments& args) {
  return F::columns > 0 ? F::columns : args.columns;
}
template <class F>
__device__ __forceinline__ int warps_of() {
  return F::threads / 32;
}

/// What a thread keeps in registers for one gate.
template <class T, class F>
struct HeldGate {
  std::uint32_t sources;  ///< rows of both inputs, and flags for the readers of the output
  std::uint32_t edges;    ///< edge rows of both inputs
  Four<T> coefficients;   ///< if they are held
  Four<float> sums;
};

/// All gates of a thread: one per wide layer, and one of the final layers, whose gates together fit
/// one per thread. The array is only indexed by compile-time constants.
template <class T, class F>
struct Held {
  HeldGate<T, F> wide[F::held > 0 ? F::held : 1];
  HeldGate<T, F> narrow;
};

/// Pointers and progress counters of a block.
template <class T>
struct Block {
  const Four<T>* coefficients;
  const std::uint32_t* short_wires;
  const Reads* input_reads;
  Four<float>* sums;
  const Layer* layers;
  int* around;  ///< [9][tile]: the cell for each row of a patch, or -1
  unsigned* fires;
  T* acts;
  T* patch;
  T* update_inputs;
  float* edges_even;
  float* edges_odd;
  float* leftover;  ///< gradients of cells that did not fire
  float* staging;
  float* tree_rows;
  float* perceive_edges_even;
  float* perceive_edges_odd;
  float* work;
  unsigned waits;
  unsigned published;

  __device__ __forceinline__ float* edges(int layer) const {
    return (layer & 1) != 0 ? edges_odd : edges_even;
  }
  __device__ __forceinline__ float* perceive_edges(int layer) const {
    return (layer & 1) != 0 ? perceive_edges_odd : perceive_edges_even;
  }
};

__device__ __forceinline__ int logits_per_gate(const KernelArguments& args) {
  return args.parametrisation == Parametrisation::softmax16 ? 16 : 4;
}

/// Number of cells in all samples.
__device__ __forceinline__ int all_cells(const KernelArguments& args) {
  return args.samples * args.grid_cells;
}

/// Publishes what this block wrote. If a block has several tiles, this is a grid-wide barrier
/// instead.
template <class T>
__device__ __forceinline__ void publish(const KernelArguments& args, Block<T>& block) {
  if (!args.one_tile) return wait_for_all(args, block.waits);
  ++block.published;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(args.flags + blockIdx.x),
                 "r"(block.published)
                 : "memory");
  }
}

/// Waits until the neighbouring blocks have published as often as this one.
template <class T>
__device__ __forceinline__ void wait_for_neighbours(const KernelArguments& args,
                                                    const Block<T>& block) {
  if (!args.one_tile) return;
  for (int i = threadIdx.x; i < neighbourhood * args.tile * cells_per_word<T>; i += threads()) {
    const int from = block.around[i];
    if (from < 0) continue;
    const int tile = from / cells_per_word<T> >> args.tile_bits;
    while (is_before(acquired(args.flags + tile), block.published)) {
    }
  }
  __syncthreads();
}

}  // namespace boolgrad::cuda::automata
