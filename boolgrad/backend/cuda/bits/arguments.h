// Arguments of the kernels for hardened automata. Internal to `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace boolgrad::cuda {

/// Memory layout of grids: [channels][batch][height][pitch] words, each with 32 cells of a row. If
/// the pitch exceeds `words`, a row is followed by a word of zeros. The total is below 2^31 bytes.
struct BitLayout {
  std::uint32_t channels, batch, height, width;
  std::uint32_t words;          ///< words of a row that hold cells
  std::uint32_t pitch;          ///< words from one row to the next
  std::uint32_t channel_words;  ///< words from one channel to the next
  bool periodic;

  __host__ __device__ std::uint32_t last_word_mask() const {
    return width % 32 == 0 ? ~0U : (1U << (width % 32)) - 1;
  }
};

// Slots of programs are given as byte offsets from a thread's first slot.

/// An input of a program: its position relative to the cell.
struct BitSource {
  std::uint32_t channel;
  std::int32_t dy;
  std::int32_t dx;
  std::uint32_t slot;
};

/// An output of a program: (slot AND keep) XOR flip.
struct BitSink {
  std::uint32_t channel;
  std::uint32_t slot;
  std::uint32_t keep;
  std::uint32_t flip;
};

/// A program with its tables in device memory.
struct BitTables {
  const BitSource* sources;
  const uint2* runs;   ///< kind (outer * 4 + inner), number of steps
  const uint4* steps;  ///< slots out, a, b, c; followed by one unused step
  const BitSink* sinks;
  std::uint32_t source_count;
  std::uint32_t run_count;
  std::uint32_t sink_count;
};

/// Buffers that a step reads and writes. `fire` is null if all cells fire.
struct BitStates {
  const std::uint32_t* from;
  std::uint32_t* to;
  const std::uint32_t* fire;
};

/// Launch configuration of the interpreter. A thread computes `rows` (4 or 1) words, one below the
/// other. Slots are in shared memory, or in `scratch` if that is not null.
struct BitLaunch {
  int rows;
  int blocks;
  int threads;
  std::size_t shared_bytes;
  std::uint32_t* scratch;
};

cudaError_t interpret_bits(const BitLayout& layout, const BitTables& tables,
                           const BitStates& states, const BitLaunch& launch, cudaStream_t stream);

/// Firing mask of a step: cells whose 32 random bits are less than `below` fire.
struct FireRate {
  std::uint64_t below;
  std::uint64_t seed;
  std::uint32_t stream;
  std::uint32_t draw;
};
cudaError_t sample_fire(const BitLayout& layout, const FireRate& rate, std::uint32_t* fire,
                        cudaStream_t stream);

struct BitRectangle {
  std::uint32_t top, left, height, width;
};
cudaError_t clear_bits(const BitLayout& layout, const BitRectangle& rectangle, std::uint32_t* state,
                       cudaStream_t stream);

}  // namespace boolgrad::cuda
