// Kernels of hardened automata: an interpreter on words of 32 cells, random firing and damage.
// Plain device code: headers of other modules and of fmt are left out, because this compiler does
// not accept them.
#include "boolgrad/backend/cuda/bits/arguments.h"

namespace boolgrad::cuda {
namespace {

// ------------------------------------------------------------------ neighbours

/// The cells at distance `dx` from each cell of word `w` of a row.
__device__ std::uint32_t shifted_word(const BitLayout& grid, const std::uint32_t* row,
                                      std::uint32_t w, int dx) {
  const std::uint32_t own = row[w];
  if (dx == 0) return own;
  const std::uint32_t last = grid.words - 1;
  const std::uint32_t top = (grid.width - 1) % 32;
  if (dx < 0) {
    if (w > 0) return __funnelshift_l(row[w - 1], own, 1);
    return (own << 1) | (grid.periodic ? (row[last] >> top) & 1U : 0U);
  }
  if (w < last) return __funnelshift_r(own, row[w + 1], 1);
  return (own >> 1) | (grid.periodic ? (row[0] & 1U) << top : 0U);
}

/// Words one below the other.
template <int rows>
struct alignas(4 * rows) Column {
  std::uint32_t of[rows];
};

/// The words that a thread computes.
struct WordPosition {
  std::uint32_t item, y, w;
};

template <int rows>
__device__ Column<rows> neighbours(const BitLayout& grid, const std::uint32_t* from,
                                   const WordPosition& position, const BitSource& source) {
  const std::uint32_t* channel =
      from + source.channel * grid.channel_words + position.item * grid.height * grid.pitch;
  Column<rows> column;
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    int y = static_cast<int>(position.y) + i + source.dy;
    const int height = static_cast<int>(grid.height);
    if (grid.periodic) y += y < 0 ? height : y >= height ? -height : 0;
    column.of[i] = 0 <= y && y < height
                       ? shifted_word(grid, channel + y * grid.pitch, position.w, source.dx)
                       : 0U;
  }
  return column;
}

// ------------------------------------------------------------------ program steps

template <int inner>
__device__ std::uint32_t inner_of(std::uint32_t a, std::uint32_t b) {
  if constexpr (inner == 0) return a & b;
  if constexpr (inner == 1) return a & ~b;
  if constexpr (inner == 2) return a | b;
  return a ^ b;
}

template <int outer>
__device__ std::uint32_t outer_of(std::uint32_t v, std::uint32_t c) {
  if constexpr (outer == 0) return v;
  if constexpr (outer == 1) return ~v;
  if constexpr (outer == 2) return v & c;
  if constexpr (outer == 3) return v & ~c;
  if constexpr (outer == 4) return ~v & c;
  if constexpr (outer == 5) return ~v & ~c;
  if constexpr (outer == 6) return v ^ c;
  return ~(v ^ c);
}

/// The slots of a thread, by byte offset from its first one. Slots of neighbouring threads are
/// adjacent.
template <int rows>
struct Slots {
  char* first;

  __device__ Column<rows>& operator[](std::uint32_t distance) const {
    return *reinterpret_cast<Column<rows>*>(first + distance);
  }
};

template <int kind, int rows>
__device__ void run_kind(const uint4* steps, std::uint32_t count, const Slots<rows>& slots) {
  constexpr bool reads_c = kind / 4 >= 2;
  // Prefetches the next step; the table has one extra step at its end.
  uint4 next = __ldg(steps);
  for (std::uint32_t i = 0; i < count; ++i) {
    const uint4 step = next;
    next = __ldg(steps + i + 1);
    const Column<rows> a = slots[step.y];
    const Column<rows> b = slots[step.z];
    const Column<rows> c = reads_c ? slots[step.w] : a;
    Column<rows> out;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      out.of[r] = outer_of<kind / 4>(inner_of<kind % 4>(a.of[r], b.of[r]), c.of[r]);
    }
    slots[step.x] = out;
  }
}

constexpr int kinds = 32;

/// Selects the loop of `kind`, one of `among` from `first` on, by bisection.
template <int rows, int first = 0, int among = kinds>
__device__ void run_steps(int kind, const uint4* steps, std::uint32_t count,
                          const Slots<rows>& slots) {
  if constexpr (among == 1) {
    run_kind<first, rows>(steps, count, slots);
  } else if (kind < first + among / 2) {
    run_steps<rows, first, among / 2>(kind, steps, count, slots);
  } else {
    run_steps<rows, first + among / 2, among / 2>(kind, steps, count, slots);
  }
}

// ------------------------------------------------------------------ interpreter

template <int rows>
__device__ void write(const BitLayout& grid, const BitStates& states, const WordPosition& position,
                      const BitSink& sink, const Column<rows>& next) {
  const std::uint32_t mask = position.w + 1 == grid.words ? grid.last_word_mask() : ~0U;
  for (int i = 0; i < rows; ++i) {
    if (position.y + i >= grid.height) return;
    const std::uint32_t in_channel =
        (position.item * grid.height + position.y + i) * grid.pitch + position.w;
    const std::uint32_t at = sink.channel * grid.channel_words + in_channel;
    std::uint32_t word = (next.of[i] & sink.keep) ^ sink.flip;
    if (states.fire != nullptr) {
      const std::uint32_t fire = states.fire[in_channel];
      word = (word & fire) | (states.from[at] & ~fire);
    }
    states.to[at] = word & mask;
  }
}

template <int rows, bool shared>
__global__ void interpret(BitLayout grid, BitTables tables, BitStates states,
                          Column<rows>* scratch) {
  extern __shared__ uint4 shared_memory[];
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t all_threads = gridDim.x * blockDim.x;
  Column<rows>* own_slots =
      shared ? reinterpret_cast<Column<rows>*>(shared_memory) + threadIdx.x : scratch + thread;
  const Slots<rows> slots{reinterpret_cast<char*>(own_slots)};
  const std::uint32_t bands = (grid.height + rows - 1) / rows;
  const std::uint32_t positions = grid.batch * bands * grid.words;
  for (std::uint32_t i = thread; i < positions; i += all_threads) {
    const WordPosition position{i / grid.words / bands, i / grid.words % bands * rows,
                                i % grid.words};
    for (std::uint32_t s = 0; s < tables.source_count; ++s) {
      const BitSource source = tables.sources[s];
      slots[source.slot] = neighbours<rows>(grid, states.from, position, source);
    }
    const uint4* steps = tables.steps;
    for (std::uint32_t r = 0; r < tables.run_count; ++r) {
      const uint2 run = tables.runs[r];
      run_steps<rows>(static_cast<int>(run.x), steps, run.y, slots);
      steps += run.y;
    }
    for (std::uint32_t s = 0; s < tables.sink_count; ++s) {
      const BitSink sink = tables.sinks[s];
      // Constants have no slot.
      const Column<rows> next = sink.keep != 0 ? slots[sink.slot] : Column<rows>{};
      write<rows>(grid, states, position, sink, next);
    }
  }
}

template <int rows, bool shared>
cudaError_t launch_interpreter(const BitLayout& layout, const BitTables& tables,
                               const BitStates& states, const BitLaunch& launch,
                               cudaStream_t stream) {
  if (shared) {
    const cudaError_t error =
        cudaFuncSetAttribute(interpret<rows, shared>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(launch.shared_bytes));
    if (error != cudaSuccess) return error;
  }
  interpret<rows, shared><<<launch.blocks, launch.threads, launch.shared_bytes, stream>>>(
      layout, tables, states, reinterpret_cast<Column<rows>*>(launch.scratch));
  return cudaGetLastError();
}

// ------------------------------------------------------------------ random firing

/// Philox4x32-10, as in `core/random.h`.
__device__ uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t first_high = __umulhi(0xD2511F53U, counter.x);
    const std::uint32_t first_low = 0xD2511F53U * counter.x;
    const std::uint32_t second_high = __umulhi(0xCD9E8D57U, counter.z);
    const std::uint32_t second_low = 0xCD9E8D57U * counter.z;
    counter = {second_high ^ counter.y ^ key.x, second_low, first_high ^ counter.w ^ key.y,
               first_low};
    key = {key.x + 0x9E3779B9U, key.y + 0xBB67AE85U};
  }
  return counter;
}

/// One thread per word. An address gives the bits of four cells; the index runs over all grids.
__global__ void sample_firing_cells(BitLayout grid, FireRate of, std::uint32_t* fire) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= grid.batch * grid.height * grid.words) return;
  const std::uint32_t w = i % grid.words;
  const std::uint32_t row = i / grid.words;
  const uint2 key = {static_cast<std::uint32_t>(of.seed),
                     static_cast<std::uint32_t>(of.seed >> 32)};
  const std::uint64_t first = static_cast<std::uint64_t>(row) * grid.width + w * 32U;
  const std::uint32_t cells = min(32U, grid.width - w * 32U);
  std::uint32_t word = 0;
  for (std::uint64_t address = first / 4; address <= (first + cells - 1) / 4; ++address) {
    const uint4 bits = philox({static_cast<std::uint32_t>(address),
                               static_cast<std::uint32_t>(address >> 32), of.draw, of.stream},
                              key);
    const std::uint32_t four = (bits.x < of.below ? 1U : 0U) | (bits.y < of.below ? 2U : 0U) |
                               (bits.z < of.below ? 4U : 0U) | (bits.w < of.below ? 8U : 0U);
    const int at = static_cast<int>(static_cast<std::int64_t>(address * 4 - first));
    word |= at >= 0 ? four << at : four >> -at;
  }
  fire[row * grid.pitch + w] = w + 1 == grid.words ? word & grid.last_word_mask() : word;
}

// ------------------------------------------------------------------ damage

/// One thread per word of the rectangle's rows, in every channel and grid.
__global__ void clear(BitLayout grid, BitRectangle rectangle, std::uint32_t* state) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t first = rectangle.left / 32;
  const std::uint32_t end = (rectangle.left + rectangle.width + 31) / 32;
  const std::uint32_t w = first + i % (end - first);
  const std::uint32_t line = i / (end - first);
  const std::uint32_t y = rectangle.top + line % rectangle.height;
  const std::uint32_t of = line / rectangle.height;
  if (of >= grid.channels * grid.batch) return;
  const std::uint32_t left = max(rectangle.left, w * 32) - w * 32;
  const std::uint32_t right = min(rectangle.left + rectangle.width, w * 32 + 32) - w * 32;
  const std::uint32_t cells = (~0U >> (32 - (right - left))) << left;
  state[(of * grid.height + y) * grid.pitch + w] &= ~cells;
}

constexpr std::uint32_t threads = 128;
std::uint32_t blocks_for(std::uint32_t items) { return (items + threads - 1) / threads; }

}  // namespace

cudaError_t interpret_bits(const BitLayout& layout, const BitTables& tables,
                           const BitStates& states, const BitLaunch& launch, cudaStream_t stream) {
  const bool shared = launch.scratch == nullptr;
  if (launch.rows == 4) {
    return shared ? launch_interpreter<4, true>(layout, tables, states, launch, stream)
                  : launch_interpreter<4, false>(layout, tables, states, launch, stream);
  }
  return shared ? launch_interpreter<1, true>(layout, tables, states, launch, stream)
                : launch_interpreter<1, false>(layout, tables, states, launch, stream);
}

cudaError_t sample_fire(const BitLayout& layout, const FireRate& of, std::uint32_t* fire,
                        cudaStream_t stream) {
  sample_firing_cells<<<blocks_for(layout.batch * layout.height * layout.words), threads, 0,
                        stream>>>(layout, of, fire);
  return cudaGetLastError();
}

cudaError_t clear_bits(const BitLayout& layout, const BitRectangle& rectangle, std::uint32_t* state,
                       cudaStream_t stream) {
  const std::uint32_t words = (rectangle.left + rectangle.width + 31) / 32 - rectangle.left / 32;
  const std::uint32_t items = layout.channels * layout.batch * rectangle.height * words;
  clear<<<blocks_for(items), threads, 0, stream>>>(layout, rectangle, state);
  return cudaGetLastError();
}

}  // namespace boolgrad::cuda
