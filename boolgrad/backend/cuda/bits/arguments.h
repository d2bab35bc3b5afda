// What the kernels of a hardened automaton read. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace boolgrad::cuda {

/// How grids lie on the device: [channels][batch][height][pitch], a word 32 cells of a row, with a
/// word of zeros behind a row's last where the pitch is larger. All of it has below 2^31 bytes.
struct BitLayout {
  std::uint32_t channels, batch, height, width;
  std::uint32_t words;          ///< of a row that hold cells
  std::uint32_t pitch;          ///< words from a row to the next
  std::uint32_t channel_words;  ///< words from a channel to the next
  bool periodic;

  __host__ __device__ std::uint32_t last_word_mask() const {
    return width % 32 == 0 ? ~0U : (1U << (width % 32)) - 1;
  }
};

// Slots of programs are given by their distance in bytes from a thread's first one.

/// An input of a program: where it lies, seen from the cell.
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

/// A program whose tables lie in device memory.
struct BitTables {
  const BitSource* sources;
  const uint2* runs;   ///< kind, outer * 4 + inner, and how many steps
  const uint4* steps;  ///< slots: out, a, b, c; and one step more that nobody takes
  const BitSink* sinks;
  std::uint32_t source_count;
  std::uint32_t run_count;
  std::uint32_t sink_count;
};

/// What a step reads and writes; `fire` is null where all cells fire.
struct BitStates {
  const std::uint32_t* from;
  std::uint32_t* to;
  const std::uint32_t* fire;
};

/// How the interpreter is launched. A thread computes `rows` words, 4 or 1, that lie below one
/// another. Slots lie in shared memory, or in `scratch` where that is not null.
struct BitLaunch {
  int rows;
  int blocks;
  int threads;
  std::size_t shared_bytes;
  std::uint32_t* scratch;
};

cudaError_t interpret_bits(const BitLayout& layout, const BitTables& tables,
                           const BitStates& states, const BitLaunch& launch, cudaStream_t stream);

/// Who fires in a step: those whose 32 random bits are below `below`.
struct BitDraw {
  std::uint64_t below;
  std::uint64_t seed;
  std::uint32_t stream;
  std::uint32_t draw;
};
cudaError_t draw_fire(const BitLayout& layout, const BitDraw& draw, std::uint32_t* fire,
                      cudaStream_t stream);

struct BitRectangle {
  std::uint32_t top, left, height, width;
};
cudaError_t clear_bits(const BitLayout& layout, const BitRectangle& rectangle, std::uint32_t* state,
                       cudaStream_t stream);

}  // namespace boolgrad::cuda
