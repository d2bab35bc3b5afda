// What is drawn for a rollout, and the states of cells and of those around them. Inside of `cuda/`.
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
__device__ __forceinline__ void draw_starts(const KernelArguments& args) {
  if (!args.draws.starts_are_random) return;
  T* to = static_cast<T*>(args.states);
  for (int i = blockIdx.x * threads() + threadIdx.x; i < args.cells * args.channels;
       i += gridDim.x * threads()) {
    __stcg(to + i, start_value<T>(args, i % args.channels, i / args.channels));
  }
}

/// Whether a cell is drawn at a rate, given times 2^32.
__device__ __forceinline__ bool is_drawn(std::uint64_t seed, std::uint32_t stream,
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
  return is_drawn(draws.seed, draws.fire_stream, draws.draw, draws.fire_scaled, i);
}

/// Who fires, for every word of a tile: 0 or 1 for a float, a bit a cell for a word of them.
template <class T>
__device__ __forceinline__ void draw_fires(const KernelArguments& args, const Block<T>& block,
                                           int tile, int step) {
  constexpr int bits = cells_per_word<T>;
  for (int i = threadIdx.x; i < args.tile * bits; i += threads()) {
    const int cell = tile * args.tile * bits + i;
    const bool fires = cell < all_cells(args) && fires_in(args, step, cell);
    if constexpr (bits == 1) {
      block.fires[i] = fires ? 1 : 0;
    } else {
      const unsigned word = __ballot_sync(~0U, fires);  // whole warps are in this loop
      if (i % 32 == 0) block.fires[i / 32] = word;
    }
  }
}

/// Whether a cell's state is rounded after a step.
__device__ __forceinline__ bool rounds(const KernelArguments& args, int step, int cell) {
  const HardeningStep& hardening = args.draws.hardening;
  return hardening.kind == HardeningKind::states && step + 1 < args.steps &&
         is_drawn(hardening.seed, hardening.stream, hardening.step, args.draws.share_scaled,
                  std::uint64_t(step) * args.draws.cells + cell);
}

__device__ __forceinline__ float next_value(const KernelArguments& args, int step, int cell,
                                            unsigned fires, float updated, float own) {
  if (fires == 0) return own;
  if (!rounds(args, step, cell)) return updated;
  return updated > 0.5F ? 1.F : 0.F;
}
__device__ __forceinline__ unsigned next_value(const KernelArguments&, int, int, unsigned fires,
                                               unsigned updated, unsigned own) {
  return (updated & fires) | (own & ~fires);
}

/// The state before a step. Those that are not kept lie in the stretch that is worked on.
template <class T>
__device__ __forceinline__ T* state_at(const KernelArguments& args, int step) {
  const std::size_t words = std::size_t(args.cells) * args.channels;
  if (step == args.steps) return static_cast<T*>(args.last);
  if (args.keep_every == 0 && step > 0) {
    return static_cast<T*>(args.stretch) + (step & 1) * words;
  }
  if (step == 0) return static_cast<T*>(args.states);
  const int within = step % args.keep_every;
  if (within == 0) return static_cast<T*>(args.states) + step / args.keep_every * words;
  return static_cast<T*>(args.stretch) + (within - 1) * words;
}

/// The cells of the patches of a tile: [9][tile], of every cell of a word.
template <class T>
__device__ __forceinline__ void look_around(const KernelArguments& args, int tile, int* around) {
  const int cells = args.tile * cells_per_word<T>;
  for (int i = threadIdx.x; i < neighbourhood * cells; i += threads()) {
    const int cell = tile * cells + i % cells;
    const int place = args.places[i / cells];
    int found = -1;
    if (cell < all_cells(args)) {
      int x = cell % args.width + place % 3 - 1;
      int y = cell / args.width % args.height + place / 3 - 1;
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

/// Word j = c * tile + cell of each row of the patch, and the cell's own channels for the update.
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

/// The same of bits: a lane a cell, and a warp's lanes make a word.
__device__ __forceinline__ void fill_patch(const KernelArguments& args,
                                           const Block<unsigned>& block, const unsigned* state) {
  const int lane = threadIdx.x & 31;
  for (int item = threadIdx.x / 32; item < neighbourhood << args.tile_bits; item += warps()) {
    const int row = item >> args.tile_bits;
    const int at = item & (args.tile - 1);
    const int from = block.around[item * 32 + lane];
    const unsigned* words = state + max(from, 0) / 32 * args.channels;
    const auto take = [&](int c, unsigned word) {
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
        take(c, four.x);
        take(c + 1, four.y);
        take(c + 2, four.z);
        take(c + 3, four.w);
      }
    }
    for (; c < args.channels; ++c) take(c, __ldcg(words + c));
  }
  __syncthreads();
}

}  // namespace boolgrad::cuda::automata
