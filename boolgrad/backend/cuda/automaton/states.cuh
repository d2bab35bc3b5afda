// Random start states and firing masks, and the states of cells and their neighbours. Internal to
// `cuda/`.
#pragma once

#include "boolgrad/backend/cuda/automaton/block.cuh"
#include "boolgrad/backend/cuda/common/random.cuh"

namespace boolgrad::cuda::automata {

template <class T>
__device__ __forceinline__ T start_value(const KernelArguments& args, int c, int cell);

template <>
__device__ __forceinline__ float start_value<float>(const KernelArguments& args, int c, int cell) {
  const std::uint64_t i = std::uint64_t(c) * args.draws.cells + cell;
  const RandomBits bits =
      random_bits(args.draws.seed, args.draws.start_stream, args.draws.draw, i / 128);
  return static_cast<float>(bits.at(i % 128 / 32) >> (i % 32) & 1);
}

template <>
__device__ __forceinline__ unsigned start_value<unsigned>(const KernelArguments& args, int c,
                                                          int word) {
  unsigned value = 0;
  RandomBits bits{};
  for (int bit = 0; bit < 32; ++bit) {
    const int cell = word * 32 + bit;
    if (cell >= all_cells(args)) break;
    const std::uint64_t i = std::uint64_t(c) * args.draws.cells + cell;
    if (bit == 0 || i % 128 == 0) {
      bits = random_bits(args.draws.seed, args.draws.start_stream, args.draws.draw, i / 128);
    }
    value |= (bits.at(i % 128 / 32) >> (i % 32) & 1) << bit;
  }
  return value;
}

template <class T>
__device__ __forceinline__ void sample_starts(const KernelArguments& args) {
  if (!args.draws.starts_are_random) return;
  T* to = static_cast<T*>(args.states);
  for (int i = blockIdx.x * threads() + threadIdx.x; i < args.cells * args.channels;
       i += gridDim.x * threads()) {
    __stcg(to + i, start_value<T>(args, i % args.channels, i / args.channels));
  }
}

/// Whether index `i` is sampled at a rate, given times 2^32.
__device__ __forceinline__ bool is_sampled(std::uint64_t seed, std::uint32_t stream,
                                           std::uint32_t draw, double scaled, std::uint64_t i) {
  const RandomBits bits = random_bits(seed, stream, draw, i / 4);
  return static_cast<double>(bits.at(i % 4)) < scaled;
}

/// Whether a cell fires in a step.
__device__ __forceinline__ bool fires_in(const KernelArguments& args, int step, int cell) {
  const std::uint64_t i = std::uint64_t(step) * args.draws.cells + cell;
  if (args.fire != nullptr) return args.fire[i] != 0;
  if (!args.draws.fires_by_chance) return true;
  const Draws& draws = args.draws;
  return is_sampled(draws.seed, draws.fire_stream, draws.draw, draws.fire_scaled, i);
}

/// Firing masks for every word of a tile: 0 or 1 for floats, one bit per cell for words.
template <class T>
__device__ __forceinline__ void sample_fires(const KernelArguments& args, const Block<T>& block,
                                             int tile, int step) {
  constexpr int bits = cells_per_word<T>;
  for (int i = threadIdx.x; i < args.tile * bits; i += threads()) {
    const int cell = tile * args.tile * bits + i;
    const bool fires = cell < all_cells(args) && fires_in(args, step, cell);
    if constexpr (bits == 1) {
      block.fires[i] = fires ? 1 : 0;
    } else {
      const unsigned word = __ballot_sync(~0U, fires);  // the loop is warp-uniform
      if (i % 32 == 0) block.fires[i / 32] = word;
    }
  }
}

/// Whether a cell's state is rounded after a step.
__device__ __forceinline__ bool rounds(const KernelArguments& args, int step, int cell) {
  const HardeningStep& hardening = args.draws.hardening;
  return hardening.kind == HardeningKind::states && step + 1 < args.steps &&
         is_sampled(hardening.seed, hardening.stream, hardening.step, args.draws.share_scaled,
                    std::uint64_t(step) * args.draws.cells + cell);
}

/// Keeps what rounding has moved beyond 0 and 1 from growing; as on the CPU. NaN stays NaN.
__device__ __forceinline__ float between_0_and_1(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

__device__ __forceinline__ float next_value(const KernelArguments& args, int step, int cell,
                                            unsigned fires, float updated, float own) {
  if (fires == 0) return own;
  if (!rounds(args, step, cell)) return between_0_and_1(updated);
  return updated > 0.5F ? 1.F : 0.F;
}
__device__ __forceinline__ unsigned next_value(const KernelArguments&, int, int, unsigned fires,
                                               unsigned updated, unsigned own) {
  return (updated & fires) | (own & ~fires);
}

/// The state before a step. States that are not kept are in the current segment.
template <class T>
__device__ __forceinline__ T* state_at(const KernelArguments& args, int step) {
  const std::size_t words = std::size_t(args.cells) * args.channels;
  if (step == args.steps) return static_cast<T*>(args.last);
  if (args.keep_every == 0 && step > 0) {
    return static_cast<T*>(args.segment) + (step & 1) * words;
  }
  if (step == 0) return static_cast<T*>(args.states);
  const int within = step % args.keep_every;
  if (within == 0) return static_cast<T*>(args.states) + step / args.keep_every * words;
  return static_cast<T*>(args.segment) + (within - 1) * words;
}

/// Finds the neighbours of a tile's cells, [9][tile], for every cell of a word.
template <class T>
__device__ __forceinline__ void find_neighbours(const KernelArguments& args, int tile,
                                                int* around) {
  const int cells = args.tile * cells_per_word<T>;
  for (int i = threadIdx.x; i < neighbourhood * cells; i += threads()) {
    const int cell = tile * cells + i % cells;
    const int position = args.positions[i / cells];
    int found = -1;
    if (cell < all_cells(args)) {
      int x = cell % args.width + position % 3 - 1;
      int y = cell / args.width % args.height + position / 3 - 1;
      const int first = cell / args.grid_cells * args.grid_cells;
      if (args.periodic) {
        x = (x + args.width) % args.width;
        y = (y + args.height) % args.height;
      }
      if (x >= 0 && x < args.width && y >= 0 && y < args.height) found = first + y * args.width + x;
    }
    around[i] = found;
  }
  __syncthreads();
}

__device__ __forceinline__ int row_of(const KernelArguments& args, int i) {
  return args.column_bits >= 0 ? i >> args.column_bits : i / args.columns;
}

/// Fills word j = c * tile + cell of each patch row, and the cell's own channels for the update.
__device__ __forceinline__ void fill_patch(const KernelArguments& args, const Block<float>& block,
                                           const float* state) {
  for (int i = threadIdx.x; i < neighbourhood * args.columns; i += threads()) {
    const int row = row_of(args, i);
    const int j = i - row * args.columns;
    const int from = block.around[(row << args.tile_bits) + (j & (args.tile - 1))];
    const float value = from < 0 ? 0 : __ldcg(state + from * args.channels + (j >> args.tile_bits));
    block.patch[i] = value;
    if (row == args.own_row) block.update_inputs[j] = value;
  }
  __syncthreads();
}

/// The same for bits: one lane per cell, and one warp makes one word.
__device__ __forceinline__ void fill_patch(const KernelArguments& args,
                                           const Block<unsigned>& block, const unsigned* state) {
  const int lane = threadIdx.x & 31;
  for (int item = threadIdx.x / 32; item < neighbourhood << args.tile_bits; item += warps()) {
    const int row = item >> args.tile_bits;
    const int at = item & (args.tile - 1);
    const int from = block.around[item * 32 + lane];
    const unsigned* words = state + max(from, 0) / 32 * args.channels;
    const auto store = [&](int c, unsigned word) {
      const unsigned value = __ballot_sync(~0U, from >= 0 && (word >> (from & 31) & 1) != 0);
      const int j = (c << args.tile_bits) + at;
      if (lane == 0) block.patch[row * args.columns + j] = value;
      if (lane == 0 && row == args.own_row) block.update_inputs[j] = value;
    };
    int c = 0;
    if (args.channels % 4 == 0) {
#pragma unroll 4
      for (; c < args.channels; c += 4) {
        const uint4 four = __ldcg(reinterpret_cast<const uint4*>(words + c));
        store(c, four.x);
        store(c + 1, four.y);
        store(c + 2, four.z);
        store(c + 3, four.w);
      }
    }
    for (; c < args.channels; ++c) store(c, __ldcg(words + c));
  }
  __syncthreads();
}

}  // namespace boolgrad::cuda::automata
