// The kernel of an automaton's training step. Plain device code: the headers of the rooms above and
// of formatting stay out, because this compiler does not take them.
#include "boolgrad/backend/cuda/automaton_code.h"

namespace boolgrad::cuda {
namespace {

// ------------------------------------------------------------------ the whole grid

/// Waits for all blocks, which the launch keeps on the device together.
__device__ void wait_for_all(const Code& code, unsigned& waits) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    ++waits;
    atomicAdd(code.barrier, 1U);
    const unsigned wanted = waits * gridDim.x;
    while (*reinterpret_cast<volatile unsigned*>(code.barrier) < wanted) {
    }
    __threadfence();
  }
  __syncthreads();
}

// ------------------------------------------------------------------ gates

__device__ float entry(int gate, int e) {
  // Entry e: bit 0 is the first input, bit 1 the second; the gate's number is 8 f(0,0) + 4 f(0,1) +
  // 2 f(1,0) + f(1,1).
  const int place = e == 0 ? 3 : e == 1 ? 1 : e == 2 ? 2 : 0;
  return static_cast<float>((gate >> place) & 1);
}

struct Soft {
  float share[16];
  float table[4];
};

__device__ Soft softened(const float* logits) {
  Soft soft;
  float most = logits[0];
  for (int i = 1; i < 16; ++i) most = fmaxf(most, logits[i]);
  float total = 0;
  for (int i = 0; i < 16; ++i) {
    soft.share[i] = expf(logits[i] - most);
    total += soft.share[i];
  }
  for (float& entry_of : soft.table) entry_of = 0;
  for (int i = 0; i < 16; ++i) {
    soft.share[i] /= total;
    for (int e = 0; e < 4; ++e) soft.table[e] += soft.share[i] * entry(i, e);
  }
  return soft;
}

__device__ void make_coefficients(const Code& code) {
  for (int gate = blockIdx.x * blockDim.x + threadIdx.x; gate < code.gates;
       gate += gridDim.x * blockDim.x) {
    const Soft soft = softened(code.logits + gate * 16);
    const float* f = soft.table;
    code.coefficients[gate] =
        make_float4(f[0], f[1] - f[0], f[2] - f[0], f[3] - f[1] - f[2] + f[0]);
  }
}

/// Sums of all blocks, in order, to gradients of the logits.
__device__ void make_logit_gradients(const Code& code) {
  for (int gate = blockIdx.x * blockDim.x + threadIdx.x; gate < code.gates;
       gate += gridDim.x * blockDim.x) {
    float4 g = make_float4(0, 0, 0, 0);
    for (int block = 0; block < gridDim.x; ++block) {
      const float4 part = code.block_sums[block * code.gates + gate];
      g.x += part.x;
      g.y += part.y;
      g.z += part.z;
      g.w += part.w;
    }
    const float table[4] = {g.x - g.y - g.z + g.w, g.y - g.w, g.z - g.w, g.w};
    const Soft soft = softened(code.logits + gate * 16);
    for (int i = 0; i < 16; ++i) {
      float slope = 0;
      for (int e = 0; e < 4; ++e) slope += table[e] * (entry(i, e) - soft.table[e]);
      code.logit_gradients[gate * 16 + i] = soft.share[i] * slope;
    }
  }
}

// ------------------------------------------------------------------ layers on a tile

/// Where a block finds everything.
struct Block {
  float4* coefficients;
  float4* sums;
  const ushort2* sources;
  const Reader* readers;
  const std::uint16_t* first_reader;
  const Layer* layers;  ///< near, because the arguments of a launch are slow to index
  int* around;          ///< [9][tile]: the cells around those of the tile, -1 where there is none
  float* acts;
  float* g_state;
  // Two places that layers take in turn. No array: one would go to slow memory.
  float* g_update_even;
  float* g_update_odd;
  float* g_perceive_even;
  float* g_perceive_odd;

  __device__ __forceinline__ float* g_update(int layer) const {
    return (layer & 1) != 0 ? g_update_odd : g_update_even;
  }
  __device__ __forceinline__ float* g_perceive(int layer) const {
    return (layer & 1) != 0 ? g_perceive_odd : g_perceive_even;
  }
};

// Rows are read four cells at a time: a gate's wires, coefficients and the arithmetic of places
// serve all four.

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ __forceinline__ float4 operator*(float4 a, float4 b) {
  return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
__device__ __forceinline__ float4 fused(float4 a, float4 b, float4 c) {
  return make_float4(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z),
                     fmaf(a.w, b.w, c.w));
}
__device__ __forceinline__ float4 fused(float a, float4 b, float c) {
  return make_float4(fmaf(a, b.x, c), fmaf(a, b.y, c), fmaf(a, b.z, c), fmaf(a, b.w, c));
}
__device__ __forceinline__ float total(float4 a) { return (a.x + a.y) + (a.z + a.w); }

__device__ __forceinline__ float4 shuffled(unsigned group, float4 a, int step) {
  return make_float4(__shfl_xor_sync(group, a.x, step), __shfl_xor_sync(group, a.y, step),
                     __shfl_xor_sync(group, a.z, step), __shfl_xor_sync(group, a.w, step));
}

/// The lanes that share one item with this one, `lanes` a power of two.
__device__ __forceinline__ unsigned group_of(int lanes) {
  return static_cast<unsigned>((1ULL << lanes) - 1) << (threadIdx.x & 31 & ~(lanes - 1));
}

/// The sum over the lanes of a group, in a fixed tree.
__device__ __forceinline__ float4 sum_of_group(float4 a, int lanes) {
  const unsigned group = group_of(lanes);
  for (int step = lanes / 2; step > 0; step /= 2) a = a + shuffled(group, a, step);
  return a;
}

/// `copies` times the same layer side by side: perception sees every channel.
__device__ __forceinline__ void forward_layer(const Code& code, const Block& block,
                                              const Layer& layer, int copies, const float4* x,
                                              float4* out) {
  const int bits = code.vector_bits;
  const int count = copies * layer.gates << bits;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int row = i >> bits;
    const int vector = i & ((1 << bits) - 1);
    const int copy = copies == 1            ? 0
                     : layer.gate_bits >= 0 ? row >> layer.gate_bits
                                            : row / layer.gates;
    const int gate = layer.first_gate + row - copy * layer.gates;
    const ushort2 from = block.sources[gate];
    const float4 c = block.coefficients[gate];
    const float4* inputs = x + (copy * layer.inputs << bits) + vector;
    const float4 a = inputs[from.x << bits];
    const float4 b = inputs[from.y << bits];
    out[i] = fused(fused(c.w, a, c.z), b, fused(c.y, a, c.x));
  }
  __syncthreads();
}

/// gx: every input gathers from the gates that read it.
__device__ __forceinline__ void gather_inputs(const Code& code, const Block& block,
                                              const Layer& layer, int copies, const float4* x,
                                              const float4* g, float4* gx) {
  const int bits = code.vector_bits;
  const int count = (copies * layer.inputs << bits) * layer.lanes;
  const std::uint16_t* first = block.first_reader + layer.first_input;
  const Reader* readers = block.readers + layer.first_reader;
  const float4* coefficients = block.coefficients + layer.first_gate;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int lane = i & (layer.lanes - 1);
    const int item = layer.lanes == 1 ? i : i / layer.lanes;
    const int row = item >> bits;
    const int vector = item & ((1 << bits) - 1);
    const int copy = copies == 1 ? 0 : row / layer.inputs;
    const int input = row - copy * layer.inputs;
    const float4* inputs = x + (copy * layer.inputs << bits) + vector;
    const float4* upstream = g + (copy * layer.gates << bits) + vector;
    float4 gathered = make_float4(0, 0, 0, 0);
    const int end = first[input + 1];
    for (int k = first[input] + lane; k < end; k += layer.lanes) {
      const Reader reader = readers[k];
      const bool is_second = (reader.gate & second_input) != 0;
      const int gate = reader.gate & ~second_input;
      const float4 c = coefficients[gate];
      const float4 slope = fused(c.w, inputs[reader.partner << bits], is_second ? c.z : c.y);
      gathered = fused(upstream[gate << bits], slope, gathered);
    }
    if (layer.lanes > 1) gathered = sum_of_group(gathered, layer.lanes);
    if (lane == 0) gx[item] = gathered;
  }
}

/// sums: of g, g a, g b and g a b over the cells of the tile and all copies. Copies are dealt out
/// to lanes.
__device__ __forceinline__ void add_sums(const Code& code, const Block& block, const Layer& layer,
                                         int copies, const float4* x, const float4* g) {
  const int bits = code.vector_bits;
  const int lanes = copies == 1 ? 1 : copies <= 2 ? 2 : copies <= 4 ? 4 : 8;
  for (int i = threadIdx.x; i < layer.gates * lanes; i += blockDim.x) {
    const int gate = lanes == 1 ? i : i / lanes;
    const ushort2 from = block.sources[layer.first_gate + gate];
    float4 sum = make_float4(0, 0, 0, 0);
    for (int copy = lanes == 1 ? 0 : i & (lanes - 1); copy < copies; copy += lanes) {
      const float4* inputs = x + (copy * layer.inputs << bits);
      const float4* upstream = g + ((copy * layer.gates + gate) << bits);
      for (int vector = 0; vector < 1 << bits; ++vector) {
        const float4 up = upstream[vector];
        const float4 b = inputs[(from.y << bits) + vector];
        const float4 ga = up * inputs[(from.x << bits) + vector];
        sum.x += total(up);
        sum.y += total(ga);
        sum.z += total(up * b);
        sum.w += total(ga * b);
      }
    }
    if (lanes > 1) sum = sum_of_group(sum, lanes);
    if (lanes == 1 || (i & (lanes - 1)) == 0) {
      float4& total_of_gate = block.sums[layer.first_gate + gate];
      total_of_gate = total_of_gate + sum;
    }
  }
}

__device__ __forceinline__ void backward_layer(const Code& code, const Block& block,
                                               const Layer& layer, int copies, const float* x,
                                               const float* g, float* gx) {
  const auto* inputs = reinterpret_cast<const float4*>(x);
  const auto* upstream = reinterpret_cast<const float4*>(g);
  add_sums(code, block, layer, copies, inputs, upstream);
  if (gx != nullptr) {
    gather_inputs(code, block, layer, copies, inputs, upstream, reinterpret_cast<float4*>(gx));
  }
  __syncthreads();
}

// ------------------------------------------------------------------ steps

/// The cells around those of a tile.
__device__ __forceinline__ void look_around(const Code& code, int tile, int* around) {
  for (int i = threadIdx.x; i < neighbourhood * code.tile; i += blockDim.x) {
    const int cell = tile * code.tile + i % code.tile;
    const int n = i / code.tile;
    int found = -1;
    if (cell < code.cells) {
      int x = cell % code.width + n % 3 - 1;
      int y = cell / code.width % code.height + n / 3 - 1;
      const int first = cell / (code.width * code.height) * code.width * code.height;
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

__device__ __forceinline__ const float* input_of(const Code& code, const Block& block, int layer) {
  const int row = layer == 0                      ? 0
                  : layer == code.perceive_layers ? code.input_rows
                                                  : block.layers[layer - 1].act_row;
  return block.acts + (row << code.tile_bits);
}

__device__ __forceinline__ void forward_tile(const Code& code, const Block& block,
                                             const float* state) {
  const int patch_values = code.channels * neighbourhood << code.tile_bits;
  for (int i = threadIdx.x; i < patch_values; i += blockDim.x) {
    const int cell = i & (code.tile - 1);
    const int row = i >> code.tile_bits;
    const int c = row / neighbourhood;
    const int n = row - c * neighbourhood;
    const int from = block.around[n * code.tile + cell];
    const float value = from < 0 ? 0 : __ldcg(state + c * code.cells + from);
    block.acts[i] = value;
    if (n == own_place) {
      block.acts[((code.input_rows + c) << code.tile_bits) + cell] = value;
    }
  }
  __syncthreads();
  for (int l = 0; l < code.layers; ++l) {
    const int copies = l < code.perceive_layers ? code.channels : 1;
    forward_layer(
        code, block, block.layers[l], copies,
        reinterpret_cast<const float4*>(input_of(code, block, l)),
        reinterpret_cast<float4*>(block.acts + (block.layers[l].act_row << code.tile_bits)));
  }
}

__device__ bool fires(const Code& code, int step, int cell) {
  return code.fire == nullptr || code.fire[step * code.cells + cell] != 0;
}

__device__ __forceinline__ void store_state(const Code& code, const Block& block, int tile,
                                            int step) {
  const float* out = block.acts + (block.layers[code.layers - 1].act_row << code.tile_bits);
  const float* own = block.acts + (code.input_rows << code.tile_bits);
  float* next = code.states + (step + 1) * code.channels * code.cells;
  for (int i = threadIdx.x; i < code.channels << code.tile_bits; i += blockDim.x) {
    const int cell = tile * code.tile + (i & (code.tile - 1));
    if (cell >= code.cells) continue;
    __stcg(next + (i >> code.tile_bits) * code.cells + cell,
           fires(code, step, cell) ? out[i] : own[i]);
  }
  __syncthreads();
}

/// The gradient of the state that a step leads to, for the cells of a tile.
__device__ __forceinline__ float state_gradient(const Code& code, const Block& block, int step,
                                                int c, int at, int cell) {
  if (step + 1 == code.steps) {
    if (c >= code.loss_channels) return 0;
    const float y = __ldcg(code.states + (code.steps * code.channels + c) * code.cells + cell);
    return 2 * (y - code.target[c * code.cells + cell]);
  }
  const float* read = code.read + ((step + 1) & 1) * code.channels * neighbourhood * code.cells;
  float total = 0;
  for (int n = 0; n < neighbourhood; ++n) {
    // Who reads this cell as its neighbour n is the neighbour on the other side.
    const int from = block.around[(neighbourhood - 1 - n) * code.tile + at];
    if (from >= 0) total += __ldcg(read + (c * neighbourhood + n) * code.cells + from);
  }
  return total;
}

__device__ __forceinline__ void backward_tile(const Code& code, const Block& block, int tile,
                                              int step) {
  for (int i = threadIdx.x; i < code.channels << code.tile_bits; i += blockDim.x) {
    const int at = i & (code.tile - 1);
    const int cell = tile * code.tile + at;
    const int c = i >> code.tile_bits;
    block.g_state[i] = cell < code.cells ? state_gradient(code, block, step, c, at, cell) : 0;
  }
  __syncthreads();
  float* upstream = block.g_update(code.layers);
  for (int i = threadIdx.x; i < code.channels << code.tile_bits; i += blockDim.x) {
    const int cell = tile * code.tile + (i & (code.tile - 1));
    const bool updates = cell < code.cells && fires(code, step, cell);
    upstream[i] = updates ? block.g_state[i] : 0;
    if (updates) block.g_state[i] = 0;  // what stays is what did not fire
  }
  __syncthreads();
  for (int l = code.layers - 1; l >= code.perceive_layers; --l) {
    float* gx = block.g_update(l);
    backward_layer(code, block, block.layers[l], 1, input_of(code, block, l), upstream, gx);
    upstream = gx;
  }
  const float* direct = upstream;
  upstream += code.channels << code.tile_bits;
  for (int l = code.perceive_layers - 1; l >= 0; --l) {
    float* gx = l > 0 || step > 0 ? block.g_perceive(l) : nullptr;
    backward_layer(code, block, block.layers[l], code.channels, input_of(code, block, l), upstream,
                   gx);
    upstream = gx;
  }
  if (step == 0) return;
  float* read = code.read + (step & 1) * code.channels * neighbourhood * code.cells;
  for (int i = threadIdx.x; i < code.channels * neighbourhood << code.tile_bits; i += blockDim.x) {
    const int at = i & (code.tile - 1);
    const int cell = tile * code.tile + at;
    const int row = i >> code.tile_bits;
    const int c = row / neighbourhood;
    if (cell >= code.cells) continue;
    float value = upstream[i];
    if (row - c * neighbourhood == own_place) {
      const int own = (c << code.tile_bits) + at;
      value += direct[own] + block.g_state[own];
    }
    __stcg(read + row * code.cells + cell, value);
  }
  __syncthreads();
}

/// The loss of the block's tiles, in a fixed order.
__device__ __forceinline__ void add_losses(const Code& code, float* parts) {
  float total = 0;
  for (int tile = blockIdx.x; tile < code.tiles; tile += gridDim.x) {
    for (int i = threadIdx.x; i < code.loss_channels << code.tile_bits; i += blockDim.x) {
      const int cell = tile * code.tile + (i & (code.tile - 1));
      const int c = i >> code.tile_bits;
      if (cell >= code.cells) continue;
      const float y = __ldcg(code.states + (code.steps * code.channels + c) * code.cells + cell);
      const float off = y - code.target[c * code.cells + cell];
      total = fmaf(off, off, total);
    }
  }
  parts[threadIdx.x] = total;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) code.block_losses[blockIdx.x] = parts[0];
  __syncthreads();
}

template <class T>
__device__ __forceinline__ void copy_all(const T* from, T* to, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

template <bool kWorkIsShared, bool kTablesAreShared>
__global__ void __launch_bounds__(block_threads, 1) train_step(const __grid_constant__ Code code) {
  extern __shared__ float4 shared[];
  unsigned waits = 0;
  float* in_shared = reinterpret_cast<float*>(shared);
  float* in_scratch = code.scratch + static_cast<std::size_t>(blockIdx.x) * code.scratch_floats;
  float* work = kWorkIsShared ? in_shared : in_scratch;
  float* tables = kTablesAreShared ? in_shared + (kWorkIsShared ? code.work.floats : 0)
                                   : in_scratch + code.work.floats;
  Block block;
  block.around = reinterpret_cast<int*>(work + code.work.around);
  block.acts = work + code.work.acts;
  block.g_state = work + code.work.g_state;
  block.g_update_even = work + code.work.g_update[0];
  block.g_update_odd = work + code.work.g_update[1];
  block.g_perceive_even = work + code.work.g_perceive[0];
  block.g_perceive_odd = work + code.work.g_perceive[1];
  block.coefficients = reinterpret_cast<float4*>(tables + code.tables.coefficients);
  // Read and written once a step: not worth a kernel of its own where it does not fit.
  float* shared_rest = in_shared + (kWorkIsShared ? code.work.floats : 0) +
                       (kTablesAreShared ? code.tables.floats : 0);
  block.sums = reinterpret_cast<float4*>(
      code.sums_are_shared ? shared_rest : in_scratch + code.work.floats + code.tables.floats);
  ushort2* sources = reinterpret_cast<ushort2*>(tables + code.tables.sources);
  Reader* readers = reinterpret_cast<Reader*>(tables + code.tables.readers);
  auto* first_reader = reinterpret_cast<std::uint16_t*>(tables + code.tables.first_reader);
  copy_all(code.sources, sources, code.gates);
  copy_all(code.readers, readers, code.reader_count);
  copy_all(code.first_reader, first_reader, code.first_reader_count);
  block.sources = sources;
  block.readers = readers;
  block.first_reader = first_reader;
  auto* layers = reinterpret_cast<Layer*>(tables + code.tables.layers);
  copy_all(code.layer, layers, code.layers);
  block.layers = layers;

  make_coefficients(code);
  wait_for_all(code, waits);
  for (int i = threadIdx.x; i < code.gates; i += blockDim.x) {
    block.coefficients[i] = code.coefficients[i];
    block.sums[i] = make_float4(0, 0, 0, 0);
  }
  __syncthreads();

  const bool one_tile = code.tiles <= gridDim.x;
  if (one_tile) look_around(code, blockIdx.x, block.around);
  for (int step = 0; step < code.steps; ++step) {
    for (int tile = blockIdx.x; tile < code.tiles; tile += gridDim.x) {
      if (!one_tile) look_around(code, tile, block.around);
      forward_tile(code, block, code.states + step * code.channels * code.cells);
      store_state(code, block, tile, step);
    }
    wait_for_all(code, waits);
  }
  add_losses(code, block.acts);

  for (int step = code.steps - 1; step >= 0; --step) {
    for (int tile = blockIdx.x; tile < code.tiles; tile += gridDim.x) {
      if (!one_tile) look_around(code, tile, block.around);
      forward_tile(code, block, code.states + step * code.channels * code.cells);
      backward_tile(code, block, tile, step);
    }
    if (step > 0) wait_for_all(code, waits);
  }
  for (int i = threadIdx.x; i < code.gates; i += blockDim.x) {
    code.block_sums[blockIdx.x * code.gates + i] = block.sums[i];
  }
  wait_for_all(code, waits);
  make_logit_gradients(code);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < gridDim.x; ++i) total += __ldcg(code.block_losses + i);
    *code.loss = total;
  }
}

}  // namespace

namespace {

template <bool kWorkIsShared, bool kTablesAreShared>
cudaError_t launch(const Code& code, int blocks, int threads, std::size_t shared_bytes) {
  const auto kernel = train_step<kWorkIsShared, kTablesAreShared>;
  const cudaError_t error = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (error != cudaSuccess) return error;
  Code copy = code;
  void* arguments[] = {&copy};
  return cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
      dim3(static_cast<unsigned>(threads)), arguments, shared_bytes, nullptr);
}

}  // namespace

cudaError_t launch_automaton(const Code& code, int blocks, std::size_t shared_bytes, int threads,
                             bool work_is_shared, bool tables_are_shared) {
  if (work_is_shared && tables_are_shared)
    return launch<true, true>(code, blocks, threads, shared_bytes);
  if (work_is_shared) return launch<true, false>(code, blocks, threads, shared_bytes);
  if (tables_are_shared) return launch<false, true>(code, blocks, threads, shared_bytes);
  return launch<false, false>(code, blocks, threads, shared_bytes);
}

}  // namespace boolgrad::cuda
