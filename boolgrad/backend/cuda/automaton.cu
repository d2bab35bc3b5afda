// The kernels of automata: a whole training step, or a rollout, in one launch. Plain device code:
// the headers of the rooms above and of formatting stay out, because this compiler does not take
// them.
#include <type_traits>

#include "boolgrad/backend/cuda/automaton_code.h"
#include "boolgrad/backend/cuda/gates.cuh"
#include "boolgrad/backend/cuda/loss.cuh"
#include "boolgrad/backend/cuda/random.cuh"
#include "boolgrad/backend/cuda/update.cuh"

namespace boolgrad::cuda {
namespace {

// ------------------------------------------------------------------ words
//
// A cell's value is a float or, hardened, a bit of a word of 32 cells in a row. A gate is a
// polynomial in both: c0 + c1 a + c2 b + c3 ab over the reals, or over bits with XOR for + and AND
// for *.

template <class T>
constexpr int cells_a_word = std::is_same<T, float>::value ? 1 : 32;

template <class T>
struct alignas(16) Four {
  T x, y, z, w;
};

__device__ __forceinline__ float gate(const Four<float>& c, float a, float b) {
  return fmaf(fmaf(c.w, a, c.z), b, fmaf(c.y, a, c.x));
}
__device__ __forceinline__ unsigned gate(const Four<unsigned>& c, unsigned a, unsigned b) {
  return (((c.w & a) ^ c.z) & b) ^ (c.y & a) ^ c.x;
}
template <class T>
__device__ __forceinline__ Four<T> gate(const Four<T>& c, const Four<T>& a, const Four<T>& b) {
  return {gate(c, a.x, b.x), gate(c, a.y, b.y), gate(c, a.z, b.z), gate(c, a.w, b.w)};
}

__device__ __forceinline__ Four<float> operator+(const Four<float>& a, const Four<float>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
__device__ __forceinline__ Four<float> operator*(const Four<float>& a, const Four<float>& b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}
/// a x + b for all four.
__device__ __forceinline__ Four<float> line(float a, const Four<float>& x, float b) {
  return {fmaf(a, x.x, b), fmaf(a, x.y, b), fmaf(a, x.z, b), fmaf(a, x.w, b)};
}
__device__ __forceinline__ float total(const Four<float>& a) { return (a.x + a.y) + (a.z + a.w); }

/// Adds what four cells of a gate add to its sums, one cell after the other.
__device__ __forceinline__ void add_products(Four<float>& sums, const Four<float>& a,
                                             const Four<float>& b, const Four<float>& g) {
  const Four<float> ga = g * a;
  sums.x = (((sums.x + g.x) + g.y) + g.z) + g.w;
  sums.y = (((sums.y + ga.x) + ga.y) + ga.z) + ga.w;
  sums.z = fmaf(g.w, b.w, fmaf(g.z, b.z, fmaf(g.y, b.y, fmaf(g.x, b.x, sums.z))));
  sums.w = fmaf(ga.w, b.w, fmaf(ga.z, b.z, fmaf(ga.y, b.y, fmaf(ga.x, b.x, sums.w))));
}

// ------------------------------------------------------------------ the whole grid

__device__ __forceinline__ unsigned acquired(const unsigned* at) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

/// Counters go on from launch to launch and may wrap.
__device__ __forceinline__ bool is_before(unsigned counted, unsigned wanted) {
  return static_cast<int>(counted - wanted) < 0;
}

/// Waits for all blocks, which the launch keeps on the device together.
__device__ void wait_for_all(const Code& code, unsigned& waits) {
  ++waits;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(code.barrier, 1U);
    while (is_before(acquired(code.barrier), waits * gridDim.x)) {
    }
  }
  __syncthreads();
}

__device__ __forceinline__ int threads() { return static_cast<int>(blockDim.x); }
__device__ __forceinline__ int warps() { return static_cast<int>(blockDim.x) / 32; }

/// What is known when a kernel is compiled: whether activations and edges lie in shared memory,
/// whether tables do, and how long rows are where a thread has one gate a layer: 2^kRowBits times
/// four cells, or below 0 where it may have more.
template <bool kWork, bool kTables, int kRowBits>
struct Form {
  static constexpr bool work_is_shared = kWork;
  static constexpr bool tables_are_shared = kTables;
  static constexpr bool one_gate = kRowBits >= 0;
  enum : int { row_bits = kRowBits >= 0 ? kRowBits : 0, held = 0, threads = most_threads };
  enum : int { kernels = 0, columns = 0 };
  static constexpr bool holds_coefficients = false;
  static constexpr bool spreads_trees = false;
};

/// The quickest form: a thread has four cells of one gate in each of up to kHeld wide layers of the
/// update and of one in the narrow ones after them, and keeps in registers what belongs to those
/// gates: wires, sums and, where so many threads have registers for them, coefficients.
///
/// The numbers of kernels and of columns of a patch may be known too; 0 stands for any.
template <int kHeld, int kThreads, bool kCoefficients, int kKernels = 0, int kColumns = 0>
struct HeldForm {
  static constexpr bool work_is_shared = true;
  static constexpr bool tables_are_shared = true;
  static constexpr bool one_gate = true;
  enum : int { row_bits = 0, held = kHeld, threads = kThreads };
  enum : int { kernels = kKernels, columns = kColumns };
  static constexpr bool holds_coefficients = kCoefficients;
  /// Whether the sums of trees are made from what threads write, else over the lanes of warps.
  static constexpr bool spreads_trees = kCoefficients;
};

template <class F>
__device__ __forceinline__ int kernels_of(const Code& code) {
  return F::kernels > 0 ? F::kernels : code.kernels;
}
template <class F>
__device__ __forceinline__ int columns_of(const Code& code) {
  return F::columns > 0 ? F::columns : code.columns;
}
/// The warps of a block.
template <class F>
__device__ __forceinline__ int warps_of() {
  return F::threads / 32;
}

/// What a thread keeps of a gate.
template <class T, class F>
struct HeldGate {
  std::uint32_t sources;  ///< rows of both inputs, and how often the output is read
  std::uint32_t edges;    ///< rows of the edges to both inputs
  Four<T> coefficients;   ///< where they are held
  Four<float> sums;
};

/// What it keeps of all: one gate of each wide layer, and one of all the last layers together,
/// which are so narrow that all their gates find a thread. The array is indexed by numbers known
/// when compiled only.
template <class T, class F>
struct Held {
  HeldGate<T, F> wide[F::held > 0 ? F::held : 1];
  HeldGate<T, F> narrow;
};

/// Where a block finds everything, and how far it is.
template <class T>
struct Block {
  const Four<T>* coefficients;
  const std::uint32_t* short_wires;
  const Reads* input_reads;
  Four<float>* sums;
  const Layer* layers;
  int* around;  ///< [9][tile]: the cells of the rows of a patch, -1 where there is none
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

/// Of all samples.
__device__ __forceinline__ int all_cells(const Code& code) {
  return code.samples * code.grid_cells;
}

/// Says that what this block wrote may be read. Where a block has more than one tile, all wait for
/// all instead.
template <class T>
__device__ __forceinline__ void publish(const Code& code, Block<T>& block) {
  if (!code.one_tile) return wait_for_all(code, block.waits);
  ++block.published;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(code.flags + blockIdx.x),
                 "r"(block.published)
                 : "memory");
  }
}

/// Waits for the blocks around this one to be as far.
template <class T>
__device__ __forceinline__ void wait_for_neighbours(const Code& code, const Block<T>& block) {
  if (!code.one_tile) return;
  for (int i = threadIdx.x; i < neighbourhood * code.tile * cells_a_word<T>; i += threads()) {
    const int from = block.around[i];
    if (from < 0) continue;
    const int tile = from / cells_a_word<T> >> code.tile_bits;
    while (is_before(acquired(code.flags + tile), block.published)) {
    }
  }
  __syncthreads();
}

// ------------------------------------------------------------------ tables

struct Drawn {
  std::uint32_t origin;
  float share;  ///< how hard the gate is
};

/// What belongs to the gate at a position.
__device__ __forceinline__ Drawn drawn_gate(const Code& code, int position) {
  Drawn drawn{code.origin[position], 0};
  const Draws& draws = code.draws;
  if (draws.hard == HardForm::blend) drawn.share = static_cast<float>(draws.share);
  if (draws.hard == HardForm::gates) {
    const std::uint32_t gate = drawn.origin & ~swapped_inputs;
    const std::uint32_t layer = code.layer_of[gate];
    const RandomBits bits =
        random_bits(draws.seed, draws.hard_stream, draws.draw,
                    (std::uint64_t{layer & 0xFF} << 32) + (gate - (layer >> 8)));
    const double uniform = static_cast<double>(bits.uniform_53()) * 0x1.0p-53;
    drawn.share = uniform < draws.share ? 1 : 0;
  }
  return drawn;
}

__device__ __forceinline__ Table table_of(const Code& code, std::uint32_t gate) {
  return code.softmax ? softmax_table(code.logits + std::size_t{gate} * 16)
                      : sigmoid_table(code.logits + std::size_t{gate} * 4);
}

__device__ __forceinline__ void make_coefficients(const Code& code, Four<float>* to) {
  for (int i = blockIdx.x * threads() + threadIdx.x; i < code.gates; i += gridDim.x * threads()) {
    const Drawn drawn = drawn_gate(code, i);
    const std::uint32_t gate = drawn.origin & ~swapped_inputs;
    const Table table = table_of(code, gate);
    const float mask = code.masks[gate];
    float f[4];
    for (int e = 0; e < 4; ++e) {
      const float soft = table.soft[e] * mask;
      const float hard = mask < 0.5F ? 0 : (table.hard >> e) & 1;
      f[e] = soft + (hard - soft) * drawn.share;
    }
    const bool swapped = (drawn.origin & swapped_inputs) != 0;
    const float first = f[1] - f[0];
    const float second = f[2] - f[0];
    to[i] = {f[0], swapped ? second : first, swapped ? first : second, f[3] - f[1] - f[2] + f[0]};
  }
}

__device__ __forceinline__ void make_coefficients(const Code& code, Four<unsigned>* to) {
  for (int i = blockIdx.x * threads() + threadIdx.x; i < code.gates; i += gridDim.x * threads()) {
    const std::uint32_t origin = code.origin[i];
    const std::uint32_t gate = origin & ~swapped_inputs;
    const unsigned table = code.masks[gate] < 0.5F ? 0 : table_of(code, gate).hard;
    const auto all = [&](int e) { return (table >> e & 1) != 0 ? ~0U : 0U; };
    const bool swapped = (origin & swapped_inputs) != 0;
    const unsigned first = all(1) ^ all(0);
    const unsigned second = all(2) ^ all(0);
    to[i] = {all(0), swapped ? second : first, swapped ? first : second,
             all(3) ^ all(2) ^ all(1) ^ all(0)};
  }
}

/// The sums over all lanes of a warp, in a fixed tree.
__device__ __forceinline__ float4 summed_over_warp(float4 sum) {
  for (int step = 16; step > 0; step /= 2) {
    sum.x += __shfl_xor_sync(~0U, sum.x, step);
    sum.y += __shfl_xor_sync(~0U, sum.y, step);
    sum.z += __shfl_xor_sync(~0U, sum.z, step);
    sum.w += __shfl_xor_sync(~0U, sum.w, step);
  }
  return sum;
}

/// Sums of all blocks, in a fixed tree, to gradients of the logits: a warp a gate.
__device__ __forceinline__ void make_logit_gradients(const Code& code) {
  const int lane = threadIdx.x & 31;
  for (int i = blockIdx.x * warps() + threadIdx.x / 32; i < code.gates; i += gridDim.x * warps()) {
    float4 g = make_float4(0, 0, 0, 0);
    for (int block = lane; block < gridDim.x; block += 32) {
      const float4 part = __ldcg(code.block_sums + std::size_t(block) * code.gates + i);
      g = make_float4(g.x + part.x, g.y + part.y, g.z + part.z, g.w + part.w);
    }
    g = summed_over_warp(g);
    const std::uint32_t origin = code.origin[i];
    const std::uint32_t gate = origin & ~swapped_inputs;
    if ((origin & swapped_inputs) != 0) {
      const float first = g.y;
      g.y = g.z;
      g.z = first;
    }
    const float mask = code.masks[gate];
    const float slopes[4] = {mask * (g.x - g.y - g.z + g.w), mask * (g.y - g.w), mask * (g.z - g.w),
                             mask * g.w};
    const Table table = table_of(code, gate);
    const int logits = code.softmax ? 16 : 4;
    if (lane < logits) {
      const float gradient =
          code.softmax ? softmax_gradient(code.logits + std::size_t{gate} * 16, table, slopes, lane)
                       : sigmoid_gradient(table, slopes, lane);
      code.logit_gradients[std::size_t{gate} * logits + lane] = gradient;
      if (!is_finite(gradient)) *code.broken = code.launch;  // whoever says so, says the same
    }
  }
}

// ------------------------------------------------------------------ what is drawn

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
  return code.draws.hard == HardForm::states && step + 1 < code.steps &&
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

// ------------------------------------------------------------------ states

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

// ------------------------------------------------------------------ perception, as a tree
//
// A kernel of 8, 4, 2 (and 1) gates, each output read once, is a tree: node i < 8 reads row i of
// the patch and the cell itself, node i >= 8 the nodes 2 (i - 8) and the next. A warp has a kernel,
// a thread a column of the patch, and all stays in registers.

template <int kOutputs>
constexpr int tree_nodes = kOutputs == 1 ? 15 : 14;

template <class T, int kNodes>
__device__ __forceinline__ void grow_tree(const Four<T>* coefficients, int kernels, const T* patch,
                                          int columns, T (&x)[9], T (&y)[kNodes]) {
#pragma unroll
  for (int row = 0; row < 9; ++row) x[row] = patch[row * columns];
#pragma unroll
  for (int i = 0; i < kNodes; ++i) {
    const Four<T> c = coefficients[i * kernels];
    y[i] =
        i < 8 ? gate(c, x[i], x[8]) : gate(c, y[i < 8 ? 0 : 2 * i - 16], y[i < 8 ? 0 : 2 * i - 15]);
  }
}

/// Kernels of a warp at most: of 16 kernels, eight warps have two each.
constexpr int most_slots = 2;

/// Calls `f(slot, kernel, column, step)` for the kernels of this warp: `column` is the first of
/// this thread's, which are `step` apart. Whole warps are called; columns may be beyond the last.
template <class F, class Function>
__device__ __forceinline__ void for_kernels(const Code& code, Function f) {
  const int kernels = kernels_of<F>(code);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x & 31;
  const int parts = kernels >= warps_of<F>() ? 1 : warps_of<F>() / kernels;
  const int part = parts == 1 ? 0 : warp / kernels;
  if (part >= parts) return;
#pragma unroll
  for (int slot = 0; slot < most_slots; ++slot) {
    const int kernel = warp - part * kernels + slot * warps_of<F>();
    if (kernel < kernels) f(slot, kernel, part * 32 + lane, parts * 32);
  }
}

template <class T, class F, int kOutputs>
__device__ __forceinline__ void perceive_trees(const Code& code, const Block<T>& block) {
  constexpr int nodes = tree_nodes<kOutputs>;
  const int columns = columns_of<F>(code);
  const int kernels = kernels_of<F>(code);
  for_kernels<F>(code, [&](int, int kernel, int first, int step) {
    for (int j = first; j < columns; j += step) {
      T x[9];
      T y[nodes];
      grow_tree<T, nodes>(block.coefficients + kernel, kernels, block.patch + j, columns, x, y);
#pragma unroll
      for (int s = 0; s < kOutputs; ++s) {
        block.update_inputs[(1 + s * kernels + kernel) * columns + j] = y[nodes - kOutputs + s];
      }
    }
  });
  __syncthreads();
}

/// What was written for a value: its edges, added up in a fixed order.
template <class V>
__device__ __forceinline__ V gathered(const Code& code, const Reads& reads, const V* edges,
                                      int vectors) {
  V g = edges[(reads.rows & 0xFFFF) * vectors] + edges[(reads.rows >> 16) * vectors];
  if (reads.rest >= 0) {
    const Rest rest = code.rest[reads.rest];
#pragma unroll 1
    for (int i = 0; i < rest.count; ++i) g = g + edges[(rest.first + i) * vectors];
  }
  return g;
}

/// The gradient of a word that the update reads: of the channels where `row` is 0, else of an
/// output of perception.
__device__ __forceinline__ float update_input_gradient(const Code& code, const Block<float>& block,
                                                       int row, int j) {
  const Reads reads = block.input_reads[row * code.channels + (j >> code.tile_bits)];
  return gathered(code, reads, block.edges(code.perceive_layers) + (j & (code.tile - 1)),
                  code.tile);
}

/// Lanes that are kHalf apart exchange halves of 2 kHalf values and add up what they keep; and so
/// on down to one value each: lane i ends with the sum of value i. A recursion, so that no array is
/// indexed at run time.
template <int kHalf>
__device__ __forceinline__ void fold_over_lanes(float (&values)[32]) {
  const bool upper = (threadIdx.x & kHalf) != 0;
#pragma unroll
  for (int i = 0; i < kHalf; ++i) {
    const float given = upper ? values[i] : values[i + kHalf];
    const float kept = upper ? values[i + kHalf] : values[i];
    values[i] = kept + __shfl_xor_sync(~0U, given, kHalf);
  }
  if constexpr (kHalf > 1) fold_over_lanes<kHalf / 2>(values);
}

/// The sums of a kernel's tables that a lane has: of leaf lane / 4, and of the inner node that is
/// lane / 4 after the leaves; lane % 4 says which of the four.
struct TreeSums {
  float leaf, inner;
};

/// What nodes kFirst to kEnd of a tree add to the sums of their tables, [node][4], over all lanes.
template <int kFirst, int kEnd, int kNodes>
__device__ __forceinline__ float folded_sums(const float (&x)[9], const float (&y)[kNodes],
                                             const float (&g)[kNodes]) {
  float parts[32] = {};
#pragma unroll
  for (int i = kFirst; i < kEnd; ++i) {
    const float a = i < 8 ? x[i] : y[i < 8 ? 0 : 2 * i - 16];
    const float b = i < 8 ? x[8] : y[i < 8 ? 0 : 2 * i - 15];
    const float ga = g[i] * a;
    parts[4 * (i - kFirst)] = g[i];
    parts[4 * (i - kFirst) + 1] = ga;
    parts[4 * (i - kFirst) + 2] = g[i] * b;
    parts[4 * (i - kFirst) + 3] = ga * b;
  }
  fold_over_lanes<16>(parts);
  return parts[0];
}

/// The sums of a thread for the tables of trees: of its lane, for the kernels of its warp; or of
/// one node of one kernel.
struct AllTreeSums {
  TreeSums of_lane[most_slots];
  Four<float> of_node;
};

/// Writes what the sums of a tree are made of, for a column: gradients of all nodes, and values of
/// those that others read.
template <class F, int kOutputs>
__device__ __forceinline__ void spread_column(const Code& code, const Block<float>& block,
                                              int kernel, int column,
                                              const float (&y)[tree_nodes<kOutputs>],
                                              const float (&g)[tree_nodes<kOutputs>]) {
  constexpr int nodes = tree_nodes<kOutputs>;
  const int words = tree_row_words(columns_of<F>(code));
  float* to = block.tree_rows + kernel * spread_rows(kOutputs) * words + column;
#pragma unroll
  for (int i = 0; i < nodes; ++i) to[i * words] = g[i];
#pragma unroll
  for (int i = 0; i < nodes - kOutputs; ++i) to[(nodes + i) * words] = y[i];
}

/// Adds up what was spread: a thread has a node of a kernel.
template <class F, int kOutputs>
__device__ __forceinline__ void add_spread_columns(const Code& code, const Block<float>& block,
                                                   Four<float>& sum) {
  constexpr int nodes = tree_nodes<kOutputs>;
  const int kernels = kernels_of<F>(code);
  const int columns = columns_of<F>(code);
  const int words = tree_row_words(columns);
  const int node = threadIdx.x / kernels;
  if (node >= nodes) return;
  const float* rows = block.tree_rows + threadIdx.x % kernels * spread_rows(kOutputs) * words;
  const auto spread = [&](int row) {
    return reinterpret_cast<const Four<float>*>(rows + row * words);
  };
  const auto patch = [&](int row) {
    return reinterpret_cast<const Four<float>*>(block.patch + row * columns);
  };
  const Four<float>* g = spread(node);
  const Four<float>* a = node < 8 ? patch(node) : spread(nodes + 2 * node - 16);
  const Four<float>* b = node < 8 ? patch(8) : spread(nodes + 2 * node - 15);
#pragma unroll 4
  for (int i = 0; i < columns / 4; ++i) add_products(sum, a[i], b[i], g[i]);
}

/// Gradients of trees: of their tables into `sums`, of patches into the staging, [kernel][row].
template <class F, int kOutputs>
__device__ __forceinline__ void perceive_trees_backward(const Code& code, const Block<float>& block,
                                                        AllTreeSums& sums, bool wants_patch) {
  constexpr int nodes = tree_nodes<kOutputs>;
  const int columns = columns_of<F>(code);
  const int kernels = kernels_of<F>(code);
  for_kernels<F>(code, [&](int slot, int kernel, int first, int step) {
    const Four<float>* coefficients = block.coefficients + kernel;
    const int lane = threadIdx.x & 31;
    for (int j = first; j - lane < columns; j += step) {
      float x[9];
      float y[nodes];
      float g[nodes];
      const bool is_live = j < columns;
      const int column = is_live ? j : 0;
      grow_tree<float, nodes>(coefficients, kernels, block.patch + column, columns, x, y);
#pragma unroll
      for (int s = 0; s < kOutputs; ++s) {
        g[nodes - kOutputs + s] =
            is_live ? update_input_gradient(code, block, 1 + s * kernels + kernel, column) : 0;
      }
#pragma unroll
      for (int i = nodes - 1; i >= 8; --i) {
        const Four<float> c = coefficients[i * kernels];
        g[2 * i - 16] = g[i] * fmaf(c.w, y[2 * i - 15], c.y);
        g[2 * i - 15] = g[i] * fmaf(c.w, y[2 * i - 16], c.z);
      }
      if constexpr (F::spreads_trees) {
        if (is_live) spread_column<F, kOutputs>(code, block, kernel, column, y, g);
      } else {
        sums.of_lane[slot].inner += folded_sums<8, nodes>(x, y, g);
        sums.of_lane[slot].leaf += folded_sums<0, 8>(x, y, g);
      }
      if (!wants_patch || !is_live) continue;
      float* staged = block.staging + kernel * neighbourhood * columns + column;
      float g_own = 0;
#pragma unroll
      for (int i = 7; i >= 0; --i) {
        const Four<float> c = coefficients[i * kernels];
        staged[i * columns] = g[i] * fmaf(c.w, x[8], c.y);
        g_own += g[i] * fmaf(c.w, x[i], c.z);
      }
      staged[8 * columns] = g_own;
    }
  });
  __syncthreads();
  if constexpr (F::spreads_trees) add_spread_columns<F, kOutputs>(code, block, sums.of_node);
}

/// The sums of threads that had a node.
template <int kNodes>
__device__ __forceinline__ void store_tree_sums(const Code& code, const Four<float>& sum) {
  if (threadIdx.x >= kNodes * code.kernels) return;
  reinterpret_cast<Four<float>*>(
      code.block_sums)[std::size_t(blockIdx.x) * code.gates + threadIdx.x] = sum;
}

/// The sums of all warps that had a kernel. Sum 4 i + e of a kernel belongs to node i.
template <class F, int kNodes>
__device__ __forceinline__ void store_tree_sums(const Code& code, float* staged,
                                                const TreeSums (&sums)[most_slots]) {
  for_kernels<F>(code, [&](int slot, int, int, int) {
    float* of_warp = staged + (threadIdx.x / 32 + slot * warps()) * 64 + (threadIdx.x & 31);
    of_warp[0] = sums[slot].leaf;
    of_warp[32] = sums[slot].inner;
  });
  __syncthreads();
  const int parts = max(1, warps() / code.kernels);
  auto* to = reinterpret_cast<float*>(code.block_sums + std::size_t(blockIdx.x) * code.gates);
  for (int i = threadIdx.x; i < 4 * kNodes * code.kernels; i += threads()) {
    const int kernel = i / 4 % code.kernels;
    const int node = i / 4 / code.kernels;
    float sum = 0;
    for (int part = 0; part < parts; ++part) {
      sum += staged[(part * code.kernels + kernel) * 64 + 4 * node + i % 4];
    }
    to[i] = sum;
  }
}

// ------------------------------------------------------------------ perception, of any wires

template <class T>
__device__ __forceinline__ void perceive_layers(const Code& code, const Block<T>& block) {
  const int columns = code.columns;
  for (int l = 0; l < code.perceive_layers; ++l) {
    const Layer& layer = block.layers[l];
    const T* x = block.acts + layer.inputs_at;
    T* y = block.acts + layer.outputs_at;
    for (int i = threadIdx.x; i < layer.gates * columns; i += threads()) {
      const int at = layer.first_gate + i / columns;
      const std::uint32_t sources = code.wires[at].sources;
      const int j = i % columns;
      y[i] = gate(block.coefficients[at], x[(sources & 0xFFFF) * columns + j],
                  x[(sources >> 16) * columns + j]);
    }
    __syncthreads();
  }
}

/// The gradient of a gate's output.
__device__ __forceinline__ float perceived_gradient(const Code& code, const Block<float>& block,
                                                    int l, int of, int j) {
  if (l + 1 == code.perceive_layers) return update_input_gradient(code, block, 1 + of, j);
  return gathered(code, code.wires[block.layers[l].first_gate + of].reads,
                  block.perceive_edges(l + 1) + j, code.columns);
}

/// A warp a gate: its sums over all columns, and its edges.
__device__ __forceinline__ void perceive_layers_backward(const Code& code,
                                                         const Block<float>& block) {
  const int columns = code.columns;
  const int lane = threadIdx.x & 31;
  for (int l = code.perceive_layers - 1; l >= 0; --l) {
    const Layer& layer = block.layers[l];
    const float* x = block.acts + layer.inputs_at;
    float* edges = block.perceive_edges(l);
    for (int of = threadIdx.x / 32; of < layer.gates; of += warps()) {
      const Wires wires = code.wires[layer.first_gate + of];
      const Four<float> c = block.coefficients[layer.first_gate + of];
      const int a_row = static_cast<int>(wires.sources & 0xFFFF);
      const int b_row = static_cast<int>(wires.sources >> 16);
      const int a_edge = static_cast<int>(wires.edges & 0xFFFF);
      const int b_edge = static_cast<int>(wires.edges >> 16);
      float4 sum = make_float4(0, 0, 0, 0);
      for (int j = lane; j < columns; j += 32) {
        const float g = perceived_gradient(code, block, l, of, j);
        const float a = x[a_row * columns + j];
        const float b = x[b_row * columns + j];
        sum = make_float4(sum.x + g, sum.y + g * a, sum.z + g * b, sum.w + g * a * b);
        edges[a_edge * columns + j] = g * fmaf(c.w, b, c.y);
        edges[b_edge * columns + j] = g * fmaf(c.w, a, c.z);
      }
      sum = summed_over_warp(sum);
      if (lane == 0) {
        Four<float>& all = block.sums[layer.first_gate + of];
        all = all + Four<float>{sum.x, sum.y, sum.z, sum.w};
      }
    }
    __syncthreads();
  }
}

// ------------------------------------------------------------------ the update

// A thread has the same four cells of the same gates of every layer. Where nothing is held, the
// wires and tables of the next layer are on their way while this one is computed.

template <class T>
__device__ __forceinline__ const Four<T>& row(const T* from, int at) {
  return reinterpret_cast<const Four<T>*>(from)[at];
}

/// The same from shared memory, at once: written so that the compiler neither puts it off nor lets
/// it wait for other loads.
__device__ __forceinline__ void fetch(const void* from, int at, unsigned (&words)[4]) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(from)) + 16 * at;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address));
}
__device__ __forceinline__ Four<float> fetched_row(const float* from, int at) {
  unsigned words[4];
  fetch(from, at, words);
  return {__uint_as_float(words[0]), __uint_as_float(words[1]), __uint_as_float(words[2]),
          __uint_as_float(words[3])};
}
__device__ __forceinline__ Four<unsigned> fetched_row(const unsigned* from, int at) {
  unsigned words[4];
  fetch(from, at, words);
  return {words[0], words[1], words[2], words[3]};
}

__device__ __forceinline__ Layer fetched_layer(const Layer* layers, int l) {
  unsigned words[4];
  fetch(layers, l, words);
  return {static_cast<int>(words[0]), static_cast<int>(words[1]), static_cast<int>(words[2]),
          static_cast<int>(words[3])};
}
template <class F, class T>
__device__ __forceinline__ Four<T> fetched_coefficients(const Block<T>& block, int at) {
  if constexpr (F::tables_are_shared) {
    return fetched_row(reinterpret_cast<const T*>(block.coefficients), at);
  } else {
    return block.coefficients[at];
  }
}
template <class F, class T>
__device__ __forceinline__ std::uint32_t fetched_wires(const Block<T>& block, int at) {
  if constexpr (F::tables_are_shared) {
    std::uint32_t wires;
    const unsigned address =
        static_cast<unsigned>(__cvta_generic_to_shared(block.short_wires)) + 4 * at;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(wires) : "r"(address));
    return wires;
  } else {
    return block.short_wires[at];
  }
}

struct Rows {
  int a, b;
};

/// The rows of a gate's inputs.
__device__ __forceinline__ Rows sources_of(const Code& code, std::uint32_t wires, int position) {
  if ((wires & long_sources) != 0) {
    const std::uint32_t sources = code.wires[position].sources;
    return {static_cast<int>(sources & 0xFFFF), static_cast<int>(sources >> 16)};
  }
  return {static_cast<int>(wires & short_row_mask),
          static_cast<int>(wires >> short_row_bits & short_row_mask)};
}

/// The position of a thread's gate; threads without one look at the last.
__device__ __forceinline__ int position_in(const Layer& layer, int of) {
  return layer.first_gate + min(of, layer.gates - 1);
}

/// Where every thread has one gate at most. While inputs are on their way, the addresses of the
/// next layer's are worked out and the wires of the one after are fetched, so that only the inputs
/// themselves are waited for.
template <class T, class F>
__device__ __forceinline__ void update_layers_at_once(const Code& code, const Block<T>& block) {
  constexpr int bits = F::row_bits;
  const int v = threadIdx.x & ((1 << bits) - 1);
  const int of = threadIdx.x >> bits;
  const int last = code.layers - 1;
  const int begin = code.perceive_layers;
  Layer layer = block.layers[begin];
  Layer next = block.layers[min(begin + 1, last)];
  Layer after = block.layers[min(begin + 2, last)];
  const int first_at = position_in(layer, of);
  int next_at = position_in(next, of);
  Four<T> c = block.coefficients[first_at];
  std::uint32_t next_wires = block.short_wires[next_at];
  const auto offsets = [&](std::uint32_t wires, int at, int inputs_at) {
    const Rows rows = sources_of(code, wires, at);
    const int from = (inputs_at >> 2) + v;
    return Rows{from + (rows.a << bits), from + (rows.b << bits)};
  };
  Rows inputs = offsets(block.short_wires[first_at], first_at, layer.inputs_at);
  for (int l = begin; l <= last; ++l) {
    const Four<T> a = fetched_row(block.acts, inputs.a);
    const Four<T> b = fetched_row(block.acts, inputs.b);
    const Four<T> next_c = fetched_coefficients<F>(block, next_at);
    const int after_at = position_in(after, of);
    const std::uint32_t after_wires = fetched_wires<F>(block, after_at);
    const Layer third = fetched_layer(block.layers, min(l + 3, last));
    inputs = offsets(next_wires, next_at, next.inputs_at);
    const Four<T> y = gate(c, a, b);
    if (of < layer.gates) {
      reinterpret_cast<Four<T>*>(block.acts + layer.outputs_at)[threadIdx.x] = y;
    }
    c = next_c;
    next_wires = after_wires;
    next_at = after_at;
    layer = next;
    next = after;
    after = third;
    __syncthreads();
  }
}

template <class T>
__device__ __forceinline__ void update_layers_in_turn(const Code& code, const Block<T>& block) {
  const int bits = code.tile_bits - 2;
  const int v = threadIdx.x & ((1 << bits) - 1);
  const int step = threads() >> bits;
  for (int l = code.perceive_layers; l < code.layers; ++l) {
    const Layer layer = block.layers[l];
    const T* x = block.acts + layer.inputs_at + 4 * v;
    auto* y = reinterpret_cast<Four<T>*>(block.acts + layer.outputs_at) + v;
    for (int of = threadIdx.x >> bits; of < layer.gates; of += step) {
      const int at = layer.first_gate + of;
      const Rows rows = sources_of(code, block.short_wires[at], at);
      y[of << bits] = gate(block.coefficients[at], row(x, rows.a << bits), row(x, rows.b << bits));
    }
    __syncthreads();
  }
}

/// Layers of perception, where kernels are trees.
template <int kOutputs>
constexpr int tree_layers = kOutputs == 1 ? 4 : 3;

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ __forceinline__ Four<float> loaded(unsigned address, float) {
  Four<float> v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address));
  return v;
}
__device__ __forceinline__ Four<unsigned> loaded(unsigned address, unsigned) {
  Four<unsigned> v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address));
  return v;
}
__device__ __forceinline__ void store(unsigned address, const Four<float>& v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
}
__device__ __forceinline__ void store(unsigned address, const Four<unsigned>& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}

constexpr unsigned row_bytes = 16;  ///< of four cells

// Rows of inputs have 12 bits each, and these lie above the first.
constexpr std::uint32_t held_row_mask = 0xFFF;
constexpr std::uint32_t held_once = 1U << 12;
constexpr std::uint32_t held_again = 1U << 13;
constexpr std::uint32_t held_thrice = 1U << 14;

/// What other blocks wrote.
__device__ __forceinline__ Four<float> fetched_global(const Four<float>* from) {
  const float4 v = __ldcg(reinterpret_cast<const float4*>(from));
  return {v.x, v.y, v.z, v.w};
}
__device__ __forceinline__ Four<unsigned> fetched_global(const Four<unsigned>* from) {
  const uint4 v = __ldcg(reinterpret_cast<const uint4*>(from));
  return {v.x, v.y, v.z, v.w};
}

template <class T, class F>
__device__ __forceinline__ void hold_gate(const Code& code, int position, HeldGate<T, F>& gate) {
  const Wires wires = code.wires[position];
  gate.sources = wires.sources | ((wires.reads.rows & 0xFFFF) != 0 ? held_once : 0) |
                 ((wires.reads.rows >> 16) != 0 ? held_again : 0) |
                 (wires.reads.rest >= 0 ? held_thrice : 0);
  gate.edges = wires.edges;
  if constexpr (F::holds_coefficients) {
    gate.coefficients = fetched_global(static_cast<const Four<T>*>(code.coefficients) + position);
  }
}

/// The wide layers of the update, for a form that holds.
template <int kOutputs>
__device__ __forceinline__ const Layer& wide_layer(const Code& code, int l) {
  return code.layer[tree_layers<kOutputs> + l];
}
/// The first gate of the narrow ones. There may be none.
__device__ __forceinline__ int narrow_gates_from(const Code& code) {
  const Layer& last_wide = code.layer[code.narrow_from - 1];
  return last_wide.first_gate + last_wide.gates;
}

/// Reads what a thread keeps.
template <class T, class F, int kOutputs>
__device__ __forceinline__ void hold(const Code& code, Held<T, F>& held) {
#pragma unroll
  for (int l = 0; l < F::held; ++l) {
    held.wide[l].sums = {};
    if (tree_layers<kOutputs> + l >= code.narrow_from) continue;
    const Layer& layer = wide_layer<kOutputs>(code, l);
    if (threadIdx.x < layer.gates) hold_gate(code, layer.first_gate + threadIdx.x, held.wide[l]);
  }
  held.narrow.sums = {};
  const int position = narrow_gates_from(code) + threadIdx.x;
  if (F::held > 0 && position < code.gates) hold_gate(code, position, held.narrow);
}

template <class T, class F>
__device__ __forceinline__ Four<T> held_coefficients(const Block<T>& block,
                                                     const HeldGate<T, F>& gate, int position) {
  if constexpr (F::holds_coefficients) return gate.coefficients;
  return loaded(shared_address(block.coefficients + position), T{});
}

/// Four cells of gate `of` of a layer.
template <class T, class F>
__device__ __forceinline__ void take_gate(const Block<T>& block, const Layer& layer, int of,
                                          const HeldGate<T, F>& held) {
  const unsigned acts = shared_address(block.acts);
  const unsigned from = acts + 4 * layer.inputs_at;
  const Four<T> c = held_coefficients(block, held, layer.first_gate + of);
  const Four<T> a = loaded(from + row_bytes * (held.sources & held_row_mask), T{});
  const Four<T> b = loaded(from + row_bytes * (held.sources >> 16), T{});
  store(acts + 4 * layer.outputs_at + row_bytes * of, gate(c, a, b));
}

/// Every thread has one gate of a layer at most, and four cells of it.
template <class T, class F, int kOutputs>
__device__ __forceinline__ void update_layers_held(const Code& code, const Block<T>& block,
                                                   const Held<T, F>& held) {
#pragma unroll
  for (int l = 0; l < F::held; ++l) {
    if (tree_layers<kOutputs> + l >= code.narrow_from) continue;
    const Layer& layer = wide_layer<kOutputs>(code, l);
    if (threadIdx.x < layer.gates) take_gate(block, layer, threadIdx.x, held.wide[l]);
    __syncthreads();
  }
  const int position = narrow_gates_from(code) + threadIdx.x;
  for (int l = code.narrow_from; l < code.layers; ++l) {
    const Layer& layer = block.layers[l];
    const int of = position - layer.first_gate;
    if (of >= 0 && of < layer.gates) take_gate(block, layer, of, held.narrow);
    __syncthreads();
  }
}

template <class T, class F, int kOutputs>
__device__ __forceinline__ void update_layers(const Code& code, const Block<T>& block,
                                              const Held<T, F>& held) {
  if constexpr (F::held > 0) update_layers_held<T, F, kOutputs>(code, block, held);
  else if constexpr (F::one_gate) update_layers_at_once<T, F>(code, block);
  else update_layers_in_turn(code, block);
}

/// The sums of a gate's lanes. Lanes exchange halves, so that each ends with a part of the four:
/// two neighbours with two each, four with one each.
struct SumPart {
  float2 two;
  float one;
};

__device__ __forceinline__ SumPart exchanged(int v, int vectors, const Four<float>& mine) {
  const bool upper = (v & 1) != 0;
  SumPart part;
  part.two = upper ? make_float2(mine.z, mine.w) : make_float2(mine.x, mine.y);
  const float2 other = upper ? make_float2(mine.x, mine.y) : make_float2(mine.z, mine.w);
  part.two.x += __shfl_xor_sync(~0U, other.x, 1);
  part.two.y += __shfl_xor_sync(~0U, other.y, 1);
  part.one = 0;
  if (vectors == 2) return part;
  const bool second = (v & 2) != 0;
  part.one = second ? part.two.y : part.two.x;
  part.one += __shfl_xor_sync(~0U, second ? part.two.x : part.two.y, 2);
  for (int step = 4; step < vectors; step *= 2) {
    part.one += __shfl_xor_sync(~0U, part.one, step);
  }
  return part;
}

/// Which of the four sums a lane ends with, where it ends with one.
__device__ __forceinline__ int sum_place(int v) { return (v & 1) * 2 + (v >> 1 & 1); }

__device__ __forceinline__ void add_to_sums(Four<float>* sums, bool is_live, int v, int vectors,
                                            const Four<float>& mine) {
  if (vectors == 1) {
    if (is_live) *sums = *sums + mine;
    return;
  }
  const SumPart part = exchanged(v, vectors, mine);
  if (!is_live) return;
  if (vectors == 2) {
    float2& all = reinterpret_cast<float2*>(sums)[v & 1];
    all = make_float2(all.x + part.two.x, all.y + part.two.y);
  } else if (v < 4) {
    reinterpret_cast<float*>(sums)[sum_place(v)] += part.one;
  }
}

/// Where a gate of the update finds what comes to it and puts what it passes on.
struct Paths {
  Rows sources;
  Rows edges;
  Reads reads;
};

/// `stride` is that of the layer's inputs; its outputs have one of `gates`.
__device__ __forceinline__ Paths paths_of(const Code& code, std::uint32_t wires, int position,
                                          int of, int gates, int stride) {
  Paths paths;
  paths.sources = {static_cast<int>(wires & short_row_mask),
                   static_cast<int>(wires >> short_row_bits & short_row_mask)};
  paths.edges.a = 1 + paths.sources.a + static_cast<int>(wires >> second_edges_bit & 1) * stride;
  paths.edges.b =
      1 + paths.sources.b + static_cast<int>(wires >> (second_edges_bit + 1) & 1) * stride;
  const unsigned first = (wires & read_once) != 0 ? 1 + of : 0;
  const unsigned second = (wires & read_again) != 0 ? 1 + of + gates : 0;
  paths.reads = {first | second << 16, -1};
  if ((wires & long_edges) != 0) {
    const Wires all = code.wires[position];
    paths.sources = {static_cast<int>(all.sources & 0xFFFF), static_cast<int>(all.sources >> 16)};
    paths.edges = {static_cast<int>(all.edges & 0xFFFF), static_cast<int>(all.edges >> 16)};
    paths.reads = all.reads;
  }
  return paths;
}

/// What four cells of a gate add to its sums.
__device__ __forceinline__ Four<float> products(const Four<float>& a, const Four<float>& b,
                                                const Four<float>& g) {
  const Four<float> ga = g * a;
  return {total(g), total(ga), total(g * b), total(ga * b)};
}

/// Sends what came to a gate's output on to its inputs; gives the sums over its four cells.
__device__ __forceinline__ Four<float> pass_on(const Rows& edges, const Four<float>& c,
                                               const Four<float>& a, const Four<float>& b,
                                               const Four<float>& g, bool is_live, float* below,
                                               int bits) {
  auto* to = reinterpret_cast<Four<float>*>(below);
  const Four<float> to_a = g * line(c.w, b, c.y);
  const Four<float> to_b = g * line(c.w, a, c.z);
  if (is_live) {
    to[edges.a << bits] = to_a;
    to[edges.b << bits] = to_b;
  }
  return products(a, b, g);
}

/// As `update_layers_at_once`, from the last layer to the first.
template <class F>
__device__ __forceinline__ void update_layers_backward_at_once(const Code& code,
                                                               const Block<float>& block) {
  constexpr int bits = F::row_bits;
  constexpr int vectors = 1 << bits;
  static_assert(bits == 2, "a lane ends with one of four sums");
  const int v = threadIdx.x & (vectors - 1);
  const int of = threadIdx.x >> bits;
  const int first = code.perceive_layers;
  Layer layer = block.layers[code.layers - 1];
  Layer next = block.layers[max(code.layers - 2, first)];
  Layer after = block.layers[max(code.layers - 3, first)];
  int at = position_in(layer, of);
  int next_at = position_in(next, of);
  std::uint32_t next_wires = block.short_wires[next_at];
  Four<float> c = block.coefficients[at];
  const auto paths_in = [&](std::uint32_t wires, int position, int l, const Layer& layer_of,
                            const Layer& before) {
    return paths_of(code, wires, position, min(of, layer_of.gates - 1), layer_of.gates,
                    l == first ? code.input_rows : before.gates);
  };
  Paths paths = paths_in(block.short_wires[at], at, code.layers - 1, layer, next);
  for (int l = code.layers - 1; l >= first; --l) {
    const float* above = block.edges(l + 1) + 4 * v;
    const float* x = block.acts + layer.inputs_at + 4 * v;
    const Four<float> once =
        fetched_row(above, static_cast<int>(paths.reads.rows & 0xFFFF) << bits);
    const Four<float> again = fetched_row(above, static_cast<int>(paths.reads.rows >> 16) << bits);
    const Four<float> a = fetched_row(x, paths.sources.a << bits);
    const Four<float> b = fetched_row(x, paths.sources.b << bits);
    const bool is_live = of < layer.gates;
    float* one_sum = reinterpret_cast<float*>(block.sums + at) + sum_place(v);
    const float sum = is_live ? *one_sum : 0;
    const Four<float> next_c = fetched_coefficients<F>(block, next_at);
    const int after_at = position_in(after, of);
    const std::uint32_t after_wires = fetched_wires<F>(block, after_at);
    const Layer last = fetched_layer(block.layers, max(l - 3, first));
    const Paths next_paths = paths_in(next_wires, next_at, l - 1, next, after);
    next_wires = after_wires;
    Four<float> g = once + again;
    if (paths.reads.rest >= 0) {
      const Rest rest = code.rest[paths.reads.rest];
#pragma unroll 1
      for (int i = 0; i < rest.count; ++i) g = g + row(above, (rest.first + i) << bits);
    }
    const Four<float> mine =
        pass_on(paths.edges, c, a, b, g, is_live, block.edges(l) + 4 * v, bits);
    const SumPart part = exchanged(v, vectors, mine);
    if (is_live) *one_sum = sum + part.one;
    paths = next_paths;
    c = next_c;
    at = next_at;
    next_at = after_at;
    layer = next;
    next = after;
    after = last;
    __syncthreads();
  }
}

__device__ __forceinline__ void update_layers_backward_in_turn(const Code& code,
                                                               const Block<float>& block) {
  const int bits = code.tile_bits - 2;
  const int vectors = 1 << bits;
  const int v = threadIdx.x & (vectors - 1);
  const int first = threadIdx.x >> bits;
  const int warp_first = (threadIdx.x & ~31) >> bits;
  const int step = threads() >> bits;
  for (int l = code.layers - 1; l >= code.perceive_layers; --l) {
    const Layer layer = block.layers[l];
    const float* x = block.acts + layer.inputs_at + 4 * v;
    const auto* above = reinterpret_cast<const Four<float>*>(block.edges(l + 1)) + v;
    for (int from = 0; warp_first + from < layer.gates; from += step) {
      const bool is_live = first + from < layer.gates;
      const int of = min(first + from, layer.gates - 1);
      const int at = layer.first_gate + of;
      const Paths paths =
          paths_of(code, block.short_wires[at], at, of, layer.gates,
                   l == code.perceive_layers ? code.input_rows : block.layers[l - 1].gates);
      const Four<float> a = row(x, paths.sources.a << bits);
      const Four<float> b = row(x, paths.sources.b << bits);
      const Four<float> g = gathered(code, paths.reads, above, vectors);
      const Four<float> mine = pass_on(paths.edges, block.coefficients[at], a, b, g, is_live,
                                       block.edges(l) + 4 * v, bits);
      add_to_sums(block.sums + at, is_live, v, vectors, mine);
    }
    __syncthreads();
  }
}

/// What comes back to four cells of gate `of` of layer l, on to its inputs and into its sums. The
/// edges of its output lie in known rows, if they are there.
template <class F>
__device__ __forceinline__ void take_gate_back(const Block<float>& block, const Layer& layer, int l,
                                               int of, HeldGate<float, F>& held) {
  const std::uint32_t sources = held.sources;
  const unsigned above = shared_address(block.edges(l + 1)) + row_bytes;
  const unsigned below = shared_address(block.edges(l));
  const unsigned from = shared_address(block.acts) + 4 * layer.inputs_at;
  Four<float> g{};
  Four<float> again{};
  if ((sources & held_once) != 0) g = loaded(above + row_bytes * of, float{});
  if ((sources & held_again) != 0) {
    again = loaded(above + row_bytes * (of + layer.gates), float{});
  }
  const Four<float> a = loaded(from + row_bytes * (sources & held_row_mask), float{});
  const Four<float> b = loaded(from + row_bytes * (sources >> 16), float{});
  const Four<float> c = held_coefficients(block, held, layer.first_gate + of);
  g = g + again;
  if ((sources & held_thrice) != 0) {
    g = g + loaded(above + row_bytes * 2 * layer.gates, float{});
  }
  store(below + row_bytes * (held.edges & 0xFFFF), g * line(c.w, b, c.y));
  store(below + row_bytes * (held.edges >> 16), g * line(c.w, a, c.z));
  add_products(held.sums, a, b, g);
}

/// As `update_layers_held`, from the last layer to the first.
template <class F, int kOutputs>
__device__ __forceinline__ void update_layers_backward_held(const Code& code,
                                                            const Block<float>& block,
                                                            Held<float, F>& held) {
  const int position = narrow_gates_from(code) + threadIdx.x;
  for (int l = code.layers - 1; l >= code.narrow_from; --l) {
    const Layer& layer = block.layers[l];
    const int of = position - layer.first_gate;
    if (of >= 0 && of < layer.gates) take_gate_back(block, layer, l, of, held.narrow);
    __syncthreads();
  }
#pragma unroll
  for (int l = F::held - 1; l >= 0; --l) {
    if (tree_layers<kOutputs> + l >= code.narrow_from) continue;
    const Layer& layer = wide_layer<kOutputs>(code, l);
    if (threadIdx.x < layer.gates) {
      take_gate_back(block, layer, tree_layers<kOutputs> + l, threadIdx.x, held.wide[l]);
    }
    __syncthreads();
  }
}

/// From the edges of the outputs to those of the inputs of the update.
template <class F, int kOutputs>
__device__ __forceinline__ void update_layers_backward(const Code& code, const Block<float>& block,
                                                       Held<float, F>& held) {
  if constexpr (F::held > 0) {
    update_layers_backward_held<F, kOutputs>(code, block, held);
  } else if constexpr (F::one_gate) {
    update_layers_backward_at_once<F>(code, block);
  } else {
    update_layers_backward_in_turn(code, block);
  }
}

// ------------------------------------------------------------------ steps

template <class T, class F, int kOutputs>
__device__ __forceinline__ void forward_tile(const Code& code, const Block<T>& block,
                                             const Held<T, F>& held, int step) {
  fill_patch(code, block, state_at<T>(code, step));
  if constexpr (kOutputs > 0) {
    perceive_trees<T, F, kOutputs>(code, block);
  } else {
    perceive_layers(code, block);
  }
  update_layers<T, F, kOutputs>(code, block, held);
}

template <class T>
__device__ __forceinline__ void store_state(const Code& code, const Block<T>& block, int tile,
                                            int step) {
  const T* out = block.acts + block.layers[code.layers - 1].outputs_at;
  T* next = state_at<T>(code, step + 1);
  for (int j = threadIdx.x; j < code.columns; j += threads()) {
    const int at = j & (code.tile - 1);
    const int cell = tile * code.tile + at;
    if (cell >= code.cells) continue;
    __stcg(next + cell * code.channels + (j >> code.tile_bits),
           next_value(code, step, cell, block.fires[at], out[j], block.update_inputs[j]));
  }
}

/// Activations of a step, where all are kept.
__device__ __forceinline__ void copy_acts(const Code& code, const Block<float>& block, int tile,
                                          int step, bool is_saved) {
  auto* kept = reinterpret_cast<float4*>(code.kept_acts + (std::size_t(step) * code.tiles + tile) *
                                                              code.work.acts_words);
  auto* acts = reinterpret_cast<float4*>(block.acts);
  for (int i = threadIdx.x; i < code.work.acts_words / 4; i += threads()) {
    if (is_saved) kept[i] = acts[i];
    else acts[i] = kept[i];
  }
  __syncthreads();
}

// Where activations are kept and shared memory holds them twice, steps take turns with the two
// places. A step's activations leave while the next one is computed and return while the one after
// is gone back through. The device copies by itself: a thread begins it, and all may wait for it.

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ void count_arrivals(std::uint64_t* arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(arrivals)) : "memory");
}

/// What threads did to shared memory comes before what copies do to it.
__device__ __forceinline__ void let_copies_see() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void begin_leaving(float* to, const float* from, int words) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(4 * words)
               : "memory");
}
/// Says that all that left before was of one step, or of none.
__device__ __forceinline__ void end_step_of_leaving() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Until what left in all steps but the last has been read from shared memory.
__device__ __forceinline__ void wait_for_leaving() {
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}
/// Until all have been written.
__device__ __forceinline__ void wait_for_left() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ __forceinline__ void begin_return(float* to, const float* from, int words,
                                             std::uint64_t* arrivals) {
  const unsigned at = shared_address(arrivals);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(4 * words)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(4 * words), "r"(at)
      : "memory");
}
/// `parity` is that of the returns to a place before this one.
__device__ __forceinline__ void wait_for_return(std::uint64_t* arrivals, unsigned parity) {
  unsigned is_there = 0;
  while (is_there == 0) {
    asm volatile(
        "{\n .reg .pred p;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        " selp.b32 %0, 1, 0, p;\n}"
        : "=r"(is_there)
        : "r"(shared_address(arrivals)), "r"(parity)
        : "memory");
  }
}

#else  // the host never places activations twice

__device__ __forceinline__ void count_arrivals(std::uint64_t*) {}
__device__ __forceinline__ void let_copies_see() {}
__device__ __forceinline__ void begin_leaving(float*, const float*, int) {}
__device__ __forceinline__ void end_step_of_leaving() {}
__device__ __forceinline__ void wait_for_leaving() {}
__device__ __forceinline__ void wait_for_left() {}
__device__ __forceinline__ void begin_return(float*, const float*, int, std::uint64_t*) {}
__device__ __forceinline__ void wait_for_return(std::uint64_t*, unsigned) {}

#endif

__device__ __forceinline__ bool takes_turns(const Code& code) { return code.work.other_acts >= 0; }

/// Turns to the activations of a step, where steps take turns.
__device__ __forceinline__ void turn_to(const Code& code, Block<float>& block, int step) {
  if (!takes_turns(code)) return;
  block.acts = block.work + ((step & 1) != 0 ? code.work.other_acts : code.work.acts);
  block.patch = block.acts + code.work.patch;
  block.update_inputs = block.acts + code.work.update_inputs;
  if (code.work.staging_in_acts) block.staging = block.update_inputs;
}

__device__ __forceinline__ float* kept_acts_of(const Code& code, int step) {
  return code.kept_acts +
         (std::size_t(step) * code.tiles + blockIdx.x) * std::size_t(code.work.acts_words);
}

/// Lets the activations of a step leave, but for the last two steps.
__device__ __forceinline__ void let_leave(const Code& code, const Block<float>& block, int step) {
  if (!takes_turns(code)) return;
  let_copies_see();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (step + 2 < code.steps) {
    begin_leaving(kept_acts_of(code, step), block.acts, code.work.acts_words);
  }
  end_step_of_leaving();
}

/// Calls back the activations of the step before the last one, into the place of this one's.
__device__ __forceinline__ void call_back(const Code& code, const Block<float>& block, int step,
                                          std::uint64_t (&arrivals)[2]) {
  if (!takes_turns(code) || step < 2) return;
  let_copies_see();
  __syncthreads();
  if (threadIdx.x != 0) return;
  begin_return(block.acts, kept_acts_of(code, step - 2), code.work.acts_words, &arrivals[step & 1]);
}

template <class T, class F, int kOutputs>
__device__ __forceinline__ void advance(const Code& code, Block<T>& block, const Held<T, F>& held,
                                        int step, bool keeps_acts) {
  for (int tile = blockIdx.x; tile < code.tiles; tile += gridDim.x) {
    if (!code.one_tile) look_around<T>(code, tile, block.around);
    draw_fires(code, block, tile, step);
    forward_tile<T, F, kOutputs>(code, block, held, step);
    if constexpr (std::is_same<T, float>::value) {
      if (keeps_acts) copy_acts(code, block, tile, step, true);
    }
    store_state(code, block, tile, step);
    if (!code.one_tile) __syncthreads();
  }
  publish(code, block);
}

/// What the neighbours give back to a channel of a cell of a tile, in a fixed order.
__device__ __forceinline__ float returned_gradient(const Code& code, const Block<float>& block,
                                                   int c, int at, int step) {
  const float* read =
      code.read + std::size_t((step + 1) & 1) * code.cells * neighbourhood * code.channels;
  float parts[neighbourhood];
#pragma unroll
  for (int row = 0; row < neighbourhood; ++row) {
    // Who reads a cell at a place is the neighbour on the other side.
    const int from = block.around[(code.opposite[row] << code.tile_bits) + at];
    parts[row] = from < 0 ? 0 : __ldcg(read + (from * neighbourhood + row) * code.channels + c);
  }
  float g = 0;
#pragma unroll
  for (int row = 0; row < neighbourhood; ++row) g += parts[row];
  return g;
}

/// A channel of a cell in the end, and what it should be.
template <class T>
struct Judged {
  T y, wanted;
};

template <class T>
__device__ __forceinline__ Judged<T> judged(const Code& code, int c, int cell) {
  return {__ldcg(static_cast<const T*>(code.last) + cell * code.channels + c),
          static_cast<const T*>(code.target)[cell * code.loss_channels + c]};
}

/// The gradient of the loss at a channel of a cell.
__device__ __forceinline__ float loss_gradient(const Code& code, int c, int cell) {
  if (c >= code.loss_channels || cell >= code.cells) return 0;
  const Judged<float> at = judged<float>(code, c, cell);
  return loss_slope(code.loss_form, code.loss_gamma, at.y, at.wanted);
}

/// What comes back to the outputs of the update, as edges; what did not fire is left over.
__device__ __forceinline__ void begin_backward(const Code& code, const Block<float>& block,
                                               int tile, int step) {
  float* upstream = block.edges(code.layers) + code.tile;
  const bool is_last = step + 1 == code.steps;
  for (int j = threadIdx.x; j < code.columns; j += threads()) {
    const int at = j & (code.tile - 1);
    const int c = j >> code.tile_bits;
    const float g = is_last ? loss_gradient(code, c, tile * code.tile + at)
                            : returned_gradient(code, block, c, at, step);
    const bool fires = block.fires[at] != 0;
    upstream[j] = fires ? g : 0;
    block.leftover[j] = fires ? 0 : g;
  }
  __syncthreads();
}

/// The gradient of a word of the patch, added up over kernels.
template <int kOutputs>
__device__ __forceinline__ float patch_gradient(const Code& code, const Block<float>& block,
                                                int row, int j) {
  const int columns = code.columns;
  if constexpr (kOutputs > 0) {
    float total = 0;
    for (int kernel = 0; kernel < code.kernels; ++kernel) {
      total += block.staging[(kernel * neighbourhood + row) * columns + j];
    }
    return total;
  } else {
    return gathered(code, code.patch_reads[row], block.perceive_edges(0) + j, columns);
  }
}

template <int kOutputs>
__device__ __forceinline__ void store_patch_gradients(const Code& code, const Block<float>& block,
                                                      int tile, int step) {
  float* read = code.read + std::size_t(step & 1) * code.cells * neighbourhood * code.channels;
  for (int i = threadIdx.x; i < neighbourhood * code.columns; i += threads()) {
    const int row = row_of(code, i);
    const int j = i - row * code.columns;
    const int cell = tile * code.tile + (j & (code.tile - 1));
    if (cell >= code.cells) continue;
    float g = patch_gradient<kOutputs>(code, block, row, j);
    if (row == code.own_row) g += update_input_gradient(code, block, 0, j) + block.leftover[j];
    __stcg(read + (cell * neighbourhood + row) * code.channels + (j >> code.tile_bits), g);
  }
  __syncthreads();
}

/// One step back. The activations of the step come first: they need nobody's gradients. Where
/// blocks have more than one tile, this is also where the last step is taken.
template <class F, int kOutputs>
__device__ __forceinline__ void retreat(const Code& code, Block<float>& block, Held<float, F>& held,
                                        int step, bool acts_are_there, AllTreeSums& sums) {
  for (int tile = blockIdx.x; tile < code.tiles; tile += gridDim.x) {
    if (!code.one_tile) look_around<float>(code, tile, block.around);
    if (step + 1 < code.steps || !code.one_tile) draw_fires(code, block, tile, step);
    if (!acts_are_there) {
      const bool is_new = step + 1 == code.steps;
      if (code.kept_acts != nullptr && !is_new) copy_acts(code, block, tile, step, false);
      else forward_tile<float, F, kOutputs>(code, block, held, step);
      if (is_new) {
        store_state(code, block, tile, step);
        __syncthreads();
      }
    }
    wait_for_neighbours(code, block);
    begin_backward(code, block, tile, step);
    update_layers_backward<F, kOutputs>(code, block, held);
    if constexpr (kOutputs > 0) {
      perceive_trees_backward<F, kOutputs>(code, block, sums, step > 0);
    } else {
      perceive_layers_backward(code, block);
    }
    if (step > 0) store_patch_gradients<kOutputs>(code, block, tile, step);
  }
  if (step > 0) publish(code, block);
}

/// The loss of the block's tiles, in a fixed order.
__device__ __forceinline__ void add_losses(const Code& code, double* parts) {
  double total = 0;
  for (int tile = blockIdx.x; tile < code.tiles; tile += gridDim.x) {
    for (int i = threadIdx.x; i < code.loss_channels << code.tile_bits; i += threads()) {
      const int cell = tile * code.tile + (i & (code.tile - 1));
      const int c = i >> code.tile_bits;
      if (cell >= code.cells) continue;
      const Judged<float> at = judged<float>(code, c, cell);
      total += loss_value(code.loss_form, code.loss_gamma, at.y, at.wanted);
    }
  }
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < warps(); ++i) total += parts[i];
    code.block_losses[blockIdx.x] = total;
  }
  __syncthreads();
}

/// The loss of all blocks, once all have theirs: by a warp, in a fixed tree.
__device__ __forceinline__ void store_loss(const Code& code) {
  if (blockIdx.x != 0 || threadIdx.x >= 32) return;
  double total = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 32) total += __ldcg(code.block_losses + i);
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
  if (threadIdx.x != 0) return;
  const auto loss = static_cast<float>(total);
  *code.loss = loss;
  *code.seen_loss = loss;
  if (!is_finite(loss)) *code.broken = code.launch;
}

/// Where the next launch goes on counting. All blocks must have begun.
template <class T>
__device__ __forceinline__ void leave_counts(const Code& code, const Block<T>& block) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  code.counted[0] = block.waits;
  code.counted[1] = block.published;
}

/// Updates the parameters whose gradients this thread made, unless something is not finite.
__device__ __forceinline__ void update_parameters(const Code& code, Block<float>& block) {
  wait_for_all(code, block.waits);
  const bool finite = __ldcg(code.broken) != code.launch;
  const Update& update = code.update;
  const int lane = threadIdx.x & 31;
  const int logits = code.softmax ? 16 : 4;
  for (int i = blockIdx.x * warps() + threadIdx.x / 32; i < code.gates; i += gridDim.x * warps()) {
    if (lane >= logits) continue;
    const std::size_t at = std::size_t{code.origin[i] & ~swapped_inputs} * logits + lane;
    float parameter = code.logits[at];
    if (finite) {
      const float gradient =
          noisy(update.factors, clipped(update.factors, code.logit_gradients[at]), at);
      adamw(update.factors, parameter, update.first[at], update.second[at], gradient);
    }
    update.parameters[at] = parameter;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *update.finite = finite ? 1 : 0;
}

/// Bits of the block's tiles that are not what they should be, and the cells that have some.
__device__ __forceinline__ void count_wrong(const Code& code) {
  for (int tile = blockIdx.x; tile < code.tiles; tile += gridDim.x) {
    for (int i = threadIdx.x; i < code.tile; i += threads()) {
      const int word = tile * code.tile + i;
      if (word >= code.cells) continue;
      const int there = all_cells(code) - word * 32;
      const unsigned mask = there >= 32 ? ~0U : (1U << there) - 1;
      unsigned bits = 0;
      unsigned cells = 0;
      for (int c = 0; c < code.loss_channels; ++c) {
        const Judged<unsigned> at = judged<unsigned>(code, c, word);
        const unsigned wrong = (at.y ^ at.wanted) & mask;
        bits += __popc(wrong);
        cells |= wrong;
      }
      code.wrong[word] = make_uint2(bits, cells);
    }
  }
}

// ------------------------------------------------------------------ launches

template <class T>
__device__ __forceinline__ void copy_all(const T* from, T* to, int count) {
  for (int i = threadIdx.x; i < count; i += threads()) to[i] = from[i];
}

template <class T, class F>
__device__ __forceinline__ Block<T> placed(const Code& code, float* shared, Layer* layers) {
  float* work =
      F::work_is_shared ? shared : code.scratch + std::size_t(blockIdx.x) * code.work.words;
  Block<T> block{};
  block.layers = layers;
  block.work = work;
  block.waits = __ldcg(code.counted);
  block.published = __ldcg(code.counted + 1);
  block.around = reinterpret_cast<int*>(work + code.work.around);
  block.fires = reinterpret_cast<unsigned*>(work + code.work.fires);
  block.acts = reinterpret_cast<T*>(work + code.work.acts);
  block.patch = block.acts + code.work.patch;
  block.update_inputs = block.acts + code.work.update_inputs;
  block.edges_even = work + code.work.edges[0];
  block.edges_odd = work + code.work.edges[1];
  block.leftover = work + code.work.leftover;
  block.staging = work + code.work.staging;
  block.tree_rows = work + code.work.tree_rows;
  if (code.work.perceive_edges[0] >= 0) {
    block.perceive_edges_even = work + code.work.perceive_edges[0];
    block.perceive_edges_odd = work + code.work.perceive_edges[1];
  }
  if constexpr (F::tables_are_shared) {
    block.short_wires = reinterpret_cast<std::uint32_t*>(shared + code.tables.short_wires);
    block.input_reads = reinterpret_cast<Reads*>(shared + code.tables.input_reads);
    block.coefficients = reinterpret_cast<Four<T>*>(shared + code.tables.coefficients);
  } else {
    block.short_wires = code.short_wires;
    block.input_reads = code.input_reads;
    block.coefficients = static_cast<const Four<T>*>(code.coefficients);
  }
  block.sums = code.tables.sums >= 0 ? reinterpret_cast<Four<float>*>(shared + code.tables.sums)
                                     : reinterpret_cast<Four<float>*>(code.block_sums) +
                                           std::size_t(blockIdx.x) * code.gates;
  return block;
}

/// Tables, starts and the block's own copies.
template <class T, class F>
__device__ __forceinline__ void prepare(const Code& code, Block<T>& block, float* shared,
                                        Layer* layers) {
  make_coefficients(code, static_cast<Four<T>*>(code.coefficients));
  draw_starts<T>(code);
  copy_all(code.layer, layers, code.layers);
  if constexpr (F::tables_are_shared) {
    copy_all(code.short_wires, reinterpret_cast<std::uint32_t*>(shared + code.tables.short_wires),
             F::held > 0 ? 0 : code.gates);
    copy_all(code.input_reads, reinterpret_cast<Reads*>(shared + code.tables.input_reads),
             code.input_rows);
  }
  look_around<T>(code, blockIdx.x, block.around);
  wait_for_all(code, block.waits);
  if constexpr (F::tables_are_shared) {
    auto* to = reinterpret_cast<float4*>(shared + code.tables.coefficients);
    const auto* from = static_cast<const float4*>(code.coefficients);
    for (int i = threadIdx.x; i < code.tables.gates; i += threads()) to[i] = __ldcg(from + i);
  }
  __syncthreads();
}

/// The rows of edges that nobody writes.
__device__ __forceinline__ void clear_zero_rows(const Code& code, const Block<float>& block) {
  for (int i = threadIdx.x; i < code.tile; i += threads()) {
    block.edges_even[i] = 0;
    block.edges_odd[i] = 0;
  }
  if (block.perceive_edges_even != nullptr) {
    for (int i = threadIdx.x; i < code.columns; i += threads()) {
      block.perceive_edges_even[i] = 0;
      block.perceive_edges_odd[i] = 0;
    }
  }
  __syncthreads();
}

template <class F, int kOutputs>
__device__ __forceinline__ void store_held_sums(const Code& code, const Held<float, F>& held,
                                                Four<float>* to) {
#pragma unroll
  for (int l = 0; l < F::held; ++l) {
    if (tree_layers<kOutputs> + l >= code.narrow_from) continue;
    const Layer& layer = wide_layer<kOutputs>(code, l);
    if (threadIdx.x < layer.gates) to[layer.first_gate + threadIdx.x] = held.wide[l].sums;
  }
  const int position = narrow_gates_from(code) + threadIdx.x;
  if (F::held > 0 && position < code.gates) to[position] = held.narrow.sums;
}

template <class F, int kOutputs>
__global__ void __launch_bounds__(F::threads, 1) train(const __grid_constant__ Code code) {
  extern __shared__ float4 shared_words[];
  __shared__ Layer layers[most_layers];
  __shared__ double parts[most_warps];
  __shared__ std::uint64_t arrivals[2];
  if (takes_turns(code) && threadIdx.x < 2) count_arrivals(&arrivals[threadIdx.x]);
  float* shared = reinterpret_cast<float*>(shared_words);
  Block<float> block = placed<float, F>(code, shared, layers);
  prepare<float, F>(code, block, shared, layers);
  Held<float, F> held;
  hold<float, F, kOutputs>(code, held);
  const int first_summed = F::held > 0    ? code.gates
                           : kOutputs > 0 ? block.layers[code.perceive_layers].first_gate
                                          : 0;
  for (int i = first_summed + threadIdx.x; i < code.gates; i += threads()) block.sums[i] = {};
  clear_zero_rows(code, block);
  AllTreeSums sums = {};

  const int steps_ahead = code.one_tile ? code.steps : code.steps - 1;
  for (int step = 0; step < steps_ahead; ++step) {
    turn_to(code, block, step);
    if (takes_turns(code) && threadIdx.x == 0) wait_for_leaving();
    if (step > 0) wait_for_neighbours(code, block);
    advance<float, F, kOutputs>(code, block, held, step,
                                code.kept_acts != nullptr && !takes_turns(code));
    let_leave(code, block, step);
  }
  if (takes_turns(code) && threadIdx.x == 0) wait_for_left();
  const int stretch = code.keep_every;
  for (int first = (code.steps - 1) / stretch * stretch; first >= 0; first -= stretch) {
    const int end = min(first + stretch, code.steps);
    if (end < code.steps) {
      // The states of this stretch were written over.
      for (int step = first; step + 1 < end; ++step) {
        wait_for_neighbours(code, block);
        advance<float, F, kOutputs>(code, block, held, step, false);
      }
      wait_for_neighbours(code, block);
    }
    for (int step = end - 1; step >= first; --step) {
      turn_to(code, block, step);
      const int returns = (code.steps - 1 - step) / 2;  // to this place, this one included
      if (takes_turns(code) && returns > 0) {
        wait_for_return(&arrivals[step & 1], (returns - 1) & 1);
      }
      const bool acts_are_there = takes_turns(code) || (step + 1 == code.steps && code.one_tile);
      retreat<F, kOutputs>(code, block, held, step, acts_are_there, sums);
      call_back(code, block, step, arrivals);
    }
  }
  auto* block_sums =
      reinterpret_cast<Four<float>*>(code.block_sums) + std::size_t(blockIdx.x) * code.gates;
  if (code.tables.sums >= 0) {
    for (int i = first_summed + threadIdx.x; i < code.gates; i += threads()) {
      block_sums[i] = block.sums[i];
    }
  }
  store_held_sums<F, kOutputs>(code, held, block_sums);
  if constexpr (F::spreads_trees) {
    store_tree_sums<tree_nodes<kOutputs>>(code, sums.of_node);
  } else if constexpr (kOutputs > 0) {
    store_tree_sums<F, tree_nodes<kOutputs>>(code, block.staging, sums.of_lane);
  }
  add_losses(code, parts);
  wait_for_all(code, block.waits);
  make_logit_gradients(code);
  store_loss(code);
  if (code.update.parameters != nullptr) update_parameters(code, block);
  leave_counts(code, block);
}

template <class T, class F, int kOutputs>
__global__ void __launch_bounds__(F::threads, 1) roll_out(const __grid_constant__ Code code) {
  extern __shared__ float4 shared_words[];
  __shared__ Layer layers[most_layers];
  __shared__ double parts[most_warps];
  float* shared = reinterpret_cast<float*>(shared_words);
  Block<T> block = placed<T, F>(code, shared, layers);
  prepare<T, F>(code, block, shared, layers);
  Held<T, F> held;
  hold<T, F, kOutputs>(code, held);
  for (int step = 0; step < code.steps; ++step) {
    if (step > 0) wait_for_neighbours(code, block);
    advance<T, F, kOutputs>(code, block, held, step, false);
  }
  if constexpr (std::is_same<T, float>::value) {
    add_losses(code, parts);
    wait_for_all(code, block.waits);
    store_loss(code);
  } else {
    __syncthreads();
    count_wrong(code);
  }
  leave_counts(code, block);
}

using Kernel = void (*)(const Code);

cudaError_t start(Kernel kernel, const Code& code, const Launch& launch) {
  const cudaError_t error = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(launch.shared_bytes));
  if (error != cudaSuccess) return error;
  Code copy = code;
  void* arguments[] = {&copy};
  return cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(launch.blocks)),
      dim3(static_cast<unsigned>(launch.threads)), arguments, launch.shared_bytes, launch.stream);
}

template <class F>
Kernel training_kernel(int tree_outputs) {
  if (tree_outputs == 1) return train<F, 1>;
  if (tree_outputs == 2) return train<F, 2>;
  if constexpr (F::held == 0) return train<F, 0>;
  return nullptr;
}

template <class T, class F>
Kernel rollout_kernel(int tree_outputs) {
  if (tree_outputs == 1) return roll_out<T, F, 1>;
  if (tree_outputs == 2) return roll_out<T, F, 2>;
  if constexpr (F::held == 0) return roll_out<T, F, 0>;
  return nullptr;
}

/// Calls `f` with the form of a launch that knows most.
template <class Function>
Kernel with_form(const Launch& launch, Function f) {
  if (!launch.work_is_shared) return f(Form<false, false, -1>());
  if (launch.holding == Holding::ten) return f(HeldForm<10, 256, true, 16, 32>());
  if (launch.holding == Holding::fourteen) return f(HeldForm<14, 256, true, 16, 32>());
  if (launch.holding == Holding::fourteen_of_any) return f(HeldForm<14, 256, true>());
  if (launch.holding == Holding::eight) return f(HeldForm<8, 512, false>());
  if (launch.row_bits == 2 && launch.tables_are_shared) return f(Form<true, true, 2>());
  return launch.tables_are_shared ? f(Form<true, true, -1>()) : f(Form<true, false, -1>());
}

template <class T>
cudaError_t launch_rollout(const Code& code, const Launch& launch) {
  const Kernel kernel = with_form(
      launch, [&](auto form) { return rollout_kernel<T, decltype(form)>(launch.tree_outputs); });
  return start(kernel, code, launch);
}

}  // namespace

cudaError_t launch_training(const Code& code, const Launch& launch) {
  const Kernel kernel = with_form(
      launch, [&](auto form) { return training_kernel<decltype(form)>(launch.tree_outputs); });
  return start(kernel, code, launch);
}

cudaError_t launch_soft_rollout(const Code& code, const Launch& launch) {
  return launch_rollout<float>(code, launch);
}

cudaError_t launch_hard_rollout(const Code& code, const Launch& launch) {
  return launch_rollout<unsigned>(code, launch);
}

}  // namespace boolgrad::cuda
