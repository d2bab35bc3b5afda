// What is drawn for a rollout, and the states of cells and of those around them. Inside of `cuda/`.
#pragma once

#include "boolgrad/backend/cuda/automaton/block.cuh"
#include "boolgrad/backend/cuda/common/random.cuh"

namespace boolgrad::cuda::automata {

template <class T>
__device__ __forceinline__ T start_value(const Code& code, int c, int cell);

template <>
__device__ __forceinline__ float start_value<float>(const Code& code, int c, int cell) {
  const std::uint64_t i = std::uint64_t(c) * code.draws.cells + cell;
  const RandomBits bits =
      random_bits(code.draws.seed, code.draws.start_stream, code.draws.draw, i / 128);
  return static_cast<float>(bits.at(i % 128 / 32) >> (i % 32) & 1);
}

template <>
__device__ __forceinline__ unsigned start_value<unsigned>(const Code& code, int c, int word) {
  unsigned value = 0;
  RandomBits bits{};
  for (int bit = 0; bit < 32; ++bit) {
    const int cell = word * 32 + bit;
    if (cell >= all_cells(code)) break;
    const std::uint64_t i = std::uint64_t(c) * code.draws.cells + cell;
    if (bit == 0 || i % 128 == 0) {
      bits = random_bits(code.draws.seed, code.draws.start_stream, code.draws.draw, i / 128);
    }
    value |= (bits.at(i % 128 / 32) >> (i % 32) & 1) << bit;
  }
  return value;
}

template <class T>
__device__ __forceinline__ void draw_starts(const Code& code) {
  if (!code.draws.starts_are_random) return;
  T* to = static_cast<T*>(code.states);
  for (int i = blockIdx.x * threads() + threadIdx.x; i < code.cells * code.channels;
       i += gridDim.x * threads()) {
    __stcg(to + i, start_value<T>(code, i % code.channels, i / code.channels));
  }
}

/// Whether a cell is drawn at a rate, given times 2^32.
__device__ __forceinline__ bool is_drawn(const Draws& draws, std::uint32_t stream, double scaled,
                                         std::uint64_t i) {
  const RandomBits bits = random_bits(draws.seed, stream, draws.draw, i / 4);
  return static_cast<double>(bits.at(i % 4)) < scaled;
}

/// Whether a cell fires in a step.
__device__ __forceinline__ bool fires_in(const Code& code, int step, int cell) {
  const std::uint64_t i = std::uint64_t(step) * code.draws.cells + cell;
  if (code.fire != nullptr) return code.fire[i] != 0;
  if (!code.draws.fires_by_chance) return true;
  return is_drawn(code.draws, code.draws.fire_stream, code.draws.fire_scaled, i);
}

/// Who fires, for every word of a tile: 0 or 1 for a float, a bit a cell for a word of them.
template <class T>
__device__ __forceinline__ void draw_fires(const Code& code, const Block<T>& block, int tile,
                                           int step) {
  constexpr int bits = cells_a_word<T>;
  for (int i = threadIdx.x; i < code.tile * bits; i += threads()) {
    const int cell = tile * code.tile * bits + i;
    const bool fires = cell < all_cells(code) && fires_in(code, step, cell);
    if constexpr (bits == 1) {
      block.fires[i] = fires ? 1 : 0;
    } else {
      const unsigned word = __ballot_sync(~0U, fires);  // whole warps are in this loop
      if (i % 32 == 0) block.fires[i / 32] = word;
    }
  }
}

/// Whether a cell's state is rounded after a step.
__device__ __forceinline__ bool rounds(const Code& code, int step, int cell) {
  return code.draws.hard == HardeningKind::states && step + 1 < code.steps &&
         is_drawn(code.draws, code.draws.hard_stream, code.draws.share_scaled,
                  std::uint64_t(step) * code.draws.cells + cell);
}

__device__ __forceinline__ float next_value(const Code& code, int step, int cell, unsigned fires,
                                            float updated, float own) {
  if (fires == 0) return own;
  if (!rounds(code, step, cell)) return updated;
  return updated > 0.5F ? 1.F : 0.F;
}
__device__ __forceinline__ unsigned next_value(const Code&, int, int, unsigned fires,
                                               unsigned updated, unsigned own) {
  return (updated & fires) | (own & ~fires);
}

/// The state before a step. Those that are not kept lie in the stretch that is worked on.
template <class T>
__device__ __forceinline__ T* state_at(const Code& code, int step) {
  const std::size_t words = std::size_t(code.cells) * code.channels;
  if (step == code.steps) return static_cast<T*>(code.last);
  if (code.keep_every == 0 && step > 0) {
    return static_cast<T*>(code.stretch) + (step & 1) * words;
  }
  if (step == 0) return static_cast<T*>(code.states);
  const int within = step % code.keep_every;
  if (within == 0) return static_cast<T*>(code.states) + step / code.keep_every * words;
  return static_cast<T*>(code.stretch) + (within - 1) * words;
}

/// The cells of the patches of a tile: [9][tile], of every cell of a word.
template <class T>
__device__ __forceinline__ void look_around(const Code& code, int tile, int* around) {
  const int cells = code.tile * cells_a_word<T>;
  for (int i = threadIdx.x; i < neighbourhood * cells; i += threads()) {
    const int cell = tile * cells + i % cells;
    const int place = code.places[i / cells];
    int found = -1;
    if (cell < all_cells(code)) {
      int x = cell % code.width + place % 3 - 1;
      int y = cell / code.width % code.height + place / 3 - 1;
      const int first = cell / code.grid_cells * code.grid_cells;
      if (code.periodic) {
        x = (x + code.width) % code.width;
        y = (y + code.height) % code.height;
      }
      if (x >= 0 && x < code.width && y >= 0 && y < code.height) found = first + y * code.width + x;
    }
    around[i] = found;
  }
  __syncthreads();
}

__device__ __forceinline__ int row_of(const Code& code, int i) {
  return code.column_bits >= 0 ? i >> code.column_bits : i / code.columns;
}

/// Word j = c * tile + cell of each row of the patch, and the cell's own channels for the update.
__device__ __forceinline__ void fill_patch(const Code& code, const Block<float>& block,
                                           const float* state) {
  for (int i = threadIdx.x; i < neighbourhood * code.columns; i += threads()) {
    const int row = row_of(code, i);
    const int j = i - row * code.columns;
    const int from = block.around[(row << code.tile_bits) + (j & (code.tile - 1))];
    const float value = from < 0 ? 0 : __ldcg(state + from * code.channels + (j >> code.tile_bits));
    block.patch[i] = value;
    if (row == code.own_row) block.update_inputs[j] = value;
  }
  __syncthreads();
}

/// The same of bits: a lane a cell, and a warp's lanes make a word.
__device__ __forceinline__ void fill_patch(const Code& code, const Block<unsigned>& block,
                                           const unsigned* state) {
  const int lane = threadIdx.x & 31;
  for (int item = threadIdx.x / 32; item < neighbourhood << code.tile_bits; item += warps()) {
    const int row = item >> code.tile_bits;
    const int at = item & (code.tile - 1);
    const int from = block.around[item * 32 + lane];
    const unsigned* words = state + max(from, 0) / 32 * code.channels;
    const auto take = [&](int c, unsigned word) {
      const unsigned value = __ballot_sync(~0U, from >= 0 && (word >> (from & 31) & 1) != 0);
      const int j = (c << code.tile_bits) + at;
      if (lane == 0) block.patch[row * code.columns + j] = value;
      if (lane == 0 && row == code.own_row) block.update_inputs[j] = value;
    };
    int c = 0;
    if (code.channels % 4 == 0) {
#pragma unroll 4
      for (; c < code.channels; c += 4) {
        const uint4 four = __ldcg(reinterpret_cast<const uint4*>(words + c));
        take(c, four.x);
        take(c + 1, four.y);
        take(c + 2, four.z);
        take(c + 3, four.w);
      }
    }
    for (; c < code.channels; ++c) take(c, __ldcg(words + c));
  }
  __syncthreads();
}

}  // namespace boolgrad::cuda::automata
