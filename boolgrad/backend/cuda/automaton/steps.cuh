// Forward and backward steps of an automaton, losses and the parameter update. Internal to `cuda/`.
#pragma once

#include "boolgrad/backend/cuda/automaton/perception.cuh"
#include "boolgrad/backend/cuda/automaton/states.cuh"
#include "boolgrad/backend/cuda/automaton/update.cuh"
#include "boolgrad/backend/cuda/common/loss.cuh"
#include "boolgrad/backend/cuda/optimiser/update.cuh"

namespace boolgrad::cuda::automata {

template <class T, class F, int kOutputs>
__device__ __forceinline__ void forward_tile(const KernelArguments& args, const Block<T>& block,
                                             const Held<T, F>& held, int step) {
  fill_patch(args, block, state_at<T>(args, step));
  if constexpr (kOutputs > 0) {
    perceive_trees<T, F, kOutputs>(args, block);
  } else {
    perceive_layers(args, block);
  }
  update_layers<T, F, kOutputs>(args, block, held);
}

template <class T>
__device__ __forceinline__ void store_state(const KernelArguments& args, const Block<T>& block,
                                            int tile, int step) {
  const T* out = block.acts + block.layers[args.layers - 1].outputs_at;
  T* next = state_at<T>(args, step + 1);
  for (int j = threadIdx.x; j < args.columns; j += threads()) {
    const int at = j & (args.tile - 1);
    const int cell = tile * args.tile + at;
    if (cell >= args.cells) continue;
    __stcg(next + cell * args.channels + (j >> args.tile_bits),
           next_value(args, step, cell, block.fires[at], out[j], block.update_inputs[j]));
  }
}

/// Saves or restores the activations of a step, if all are kept.
__device__ __forceinline__ void copy_acts(const KernelArguments& args, const Block<float>& block,
                                          int tile, int step, bool is_saved) {
  auto* kept = reinterpret_cast<float4*>(args.kept_acts + (std::size_t(step) * args.tiles + tile) *
                                                              args.work.acts_words);
  auto* acts = reinterpret_cast<float4*>(block.acts);
  for (int i = threadIdx.x; i < args.work.acts_words / 4; i += threads()) {
    if (is_saved) kept[i] = acts[i];
    else acts[i] = kept[i];
  }
  __syncthreads();
}

// Double buffering of kept activations. Even and odd steps use different buffers in shared memory.
// The activations of a step are copied out while the next step is computed, and copied back in
// during the backward pass of a later step. The copies are asynchronous: one thread starts them,
// and all threads can wait for them.

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ void init_copy_barrier(std::uint64_t* copy_barriers) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(copy_barriers))
               : "memory");
}

/// Orders the threads' accesses to shared memory before those of asynchronous copies.
__device__ __forceinline__ void fence_before_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void begin_copy_out(float* to, const float* from, int words) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(4 * words)
               : "memory");
}
/// Closes the group of copies that belong to one step. The group may be empty.
__device__ __forceinline__ void commit_copies_out() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until shared memory of all groups but the last has been read.
__device__ __forceinline__ void wait_until_read() {
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}
/// Waits until all copies have been written.
__device__ __forceinline__ void wait_until_written() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ __forceinline__ void begin_copy_in(float* to, const float* from, int words,
                                              std::uint64_t* copy_barriers) {
  const unsigned at = shared_address(copy_barriers);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(4 * words)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(4 * words), "r"(at)
      : "memory");
}
/// `parity`: the number of earlier copies into this buffer, modulo 2.
__device__ __forceinline__ void wait_for_copy_in(std::uint64_t* copy_barriers, unsigned parity) {
  unsigned is_done = 0;
  while (is_done == 0) {
    asm volatile(
        "{\n .reg .pred p;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        " selp.b32 %0, 1, 0, p;\n}"
        : "=r"(is_done)
        : "r"(shared_address(copy_barriers)), "r"(parity)
        : "memory");
  }
}

#else  // the host never allocates a second buffer

__device__ __forceinline__ void init_copy_barrier(std::uint64_t*) {}
__device__ __forceinline__ void fence_before_copies() {}
__device__ __forceinline__ void begin_copy_out(float*, const float*, int) {}
__device__ __forceinline__ void commit_copies_out() {}
__device__ __forceinline__ void wait_until_read() {}
__device__ __forceinline__ void wait_until_written() {}
__device__ __forceinline__ void begin_copy_in(float*, const float*, int, std::uint64_t*) {}
__device__ __forceinline__ void wait_for_copy_in(std::uint64_t*, unsigned) {}

#endif

__device__ __forceinline__ bool double_buffers(const KernelArguments& args) {
  return args.second_acts >= 0;
}

/// Selects the buffer of a step, if activations are double-buffered.
__device__ __forceinline__ void select_buffer(const KernelArguments& args, Block<float>& block,
                                              int step) {
  if (!double_buffers(args)) return;
  block.acts = block.work + ((step & 1) != 0 ? args.second_acts : args.work.acts);
  block.patch = block.acts + args.work.patch;
  block.update_inputs = block.acts + args.work.update_inputs;
  if (args.work.staging_in_acts) block.staging = block.update_inputs;
}

__device__ __forceinline__ float* kept_acts_of(const KernelArguments& args, int step) {
  return args.kept_acts +
         (std::size_t(step) * args.tiles + blockIdx.x) * std::size_t(args.work.acts_words);
}

/// Starts copying the activations of a step out, except for the last two steps.
__device__ __forceinline__ void begin_saving(const KernelArguments& args, const Block<float>& block,
                                             int step) {
  if (!double_buffers(args)) return;
  fence_before_copies();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (step + 2 < args.steps) {
    begin_copy_out(kept_acts_of(args, step), block.acts, args.work.acts_words);
  }
  commit_copies_out();
}

/// Starts copying the activations of step - 2 into the buffer of this step.
__device__ __forceinline__ void begin_restoring(const KernelArguments& args,
                                                const Block<float>& block, int step,
                                                std::uint64_t (&copy_barriers)[2]) {
  if (!double_buffers(args) || step < 2) return;
  fence_before_copies();
  __syncthreads();
  if (threadIdx.x != 0) return;
  begin_copy_in(block.acts, kept_acts_of(args, step - 2), args.work.acts_words,
                &copy_barriers[step & 1]);
}

template <class T, class F, int kOutputs>
__device__ __forceinline__ void step_forward(const KernelArguments& args, Block<T>& block,
                                             const Held<T, F>& held, int step, bool keeps_acts) {
  for (int tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) {
    if (!args.one_tile) find_neighbours<T>(args, tile, block.around);
    sample_fires(args, block, tile, step);
    forward_tile<T, F, kOutputs>(args, block, held, step);
    if constexpr (std::is_same<T, float>::value) {
      if (keeps_acts) copy_acts(args, block, tile, step, true);
    }
    store_state(args, block, tile, step);
    if (!args.one_tile) __syncthreads();
  }
  publish(args, block);
}

/// The gradient that a channel of a cell receives from its neighbours, summed in a fixed order.
__device__ __forceinline__ float returned_gradient(const KernelArguments& args,
                                                   const Block<float>& block, int c, int at,
                                                   int step) {
  const float* read =
      args.read + std::size_t((step + 1) & 1) * args.cells * neighbourhood * args.channels;
  float parts[neighbourhood];
#pragma unroll
  for (int row = 0; row < neighbourhood; ++row) {
    // A cell at offset d from its reader has that reader at offset -d.
    const int from = block.around[(args.opposite[row] << args.tile_bits) + at];
    parts[row] = from < 0 ? 0 : __ldcg(read + (from * neighbourhood + row) * args.channels + c);
  }
  float g = 0;
#pragma unroll
  for (int row = 0; row < neighbourhood; ++row) g += parts[row];
  return g;
}

/// A channel of a cell and its target.
template <class T>
struct Compared {
  T y, target;
};

template <class T>
__device__ __forceinline__ Compared<T> compared(const KernelArguments& args, const T* state, int c,
                                                int cell) {
  return {__ldcg(state + cell * args.channels + c),
          static_cast<const T*>(args.target)[cell * args.loss_channels + c]};
}

/// The gradient of the loss with respect to a channel of a cell. If the loss covers several states,
/// it is also accumulated here: the same thread has the cell in every step, from the last one
/// backwards.
__device__ __forceinline__ float loss_gradient(const KernelArguments& args, const float* state,
                                               int c, int cell, bool is_last) {
  if (c >= args.loss_channels || cell >= args.cells) return 0;
  const Compared<float> at = compared(args, state, c, cell);
  const bool counts = at.target <= 1;  // not `any_value`
  if (args.cell_losses != nullptr) {
    double& loss = args.cell_losses[std::size_t(cell) * args.loss_channels + c];
    const double value = counts ? loss_value(args.loss_kind, args.loss_gamma, at.y, at.target) : 0;
    loss = is_last ? value : loss + value;
  }
  return counts ? loss_slope(args.loss_kind, args.loss_gamma, at.y, at.target) : 0;
}

/// Writes the gradients of the update's outputs as edges. Gradients of cells that did not fire go
/// to `leftover`.
__device__ __forceinline__ void begin_backward(const KernelArguments& args,
                                               const Block<float>& block, int tile, int step) {
  float* upstream = block.edges(args.layers) + args.tile;
  const bool is_last = step + 1 == args.steps;
  const bool has_loss = step + args.loss_steps >= args.steps;
  const float* state = has_loss ? state_at<float>(args, step + 1) : nullptr;
  for (int j = threadIdx.x; j < args.columns; j += threads()) {
    const int at = j & (args.tile - 1);
    const int c = j >> args.tile_bits;
    float g = is_last ? 0 : returned_gradient(args, block, c, at, step);
    if (has_loss) g += loss_gradient(args, state, c, tile * args.tile + at, is_last);
    const bool fires = block.fires[at] != 0;
    upstream[j] = fires ? g : 0;
    block.leftover[j] = fires ? 0 : g;
  }
  __syncthreads();
}

/// The gradient of a word of the patch, summed over kernels.
template <int kOutputs>
__device__ __forceinline__ float patch_gradient(const KernelArguments& args,
                                                const Block<float>& block, int row, int j) {
  const int columns = args.columns;
  if constexpr (kOutputs > 0) {
    float total = 0;
    for (int kernel = 0; kernel < args.kernels; ++kernel) {
      total += block.staging[(kernel * neighbourhood + row) * columns + j];
    }
    return total;
  } else {
    return gathered(args, args.patch_reads[row], block.perceive_edges(0) + j, columns);
  }
}

template <int kOutputs>
__device__ __forceinline__ void store_patch_gradients(const KernelArguments& args,
                                                      const Block<float>& block, int tile,
                                                      int step) {
  float* read = args.read + std::size_t(step & 1) * args.cells * neighbourhood * args.channels;
  for (int i = threadIdx.x; i < neighbourhood * args.columns; i += threads()) {
    const int row = row_of(args, i);
    const int j = i - row * args.columns;
    const int cell = tile * args.tile + (j & (args.tile - 1));
    if (cell >= args.cells) continue;
    float g = patch_gradient<kOutputs>(args, block, row, j);
    if (row == args.own_row) g += update_input_gradient(args, block, 0, j) + block.leftover[j];
    __stcg(read + (cell * neighbourhood + row) * args.channels + (j >> args.tile_bits), g);
  }
  __syncthreads();
}

/// One backward step. Activations are recomputed or restored first, because they do not depend on
/// the gradients of other blocks. If blocks have several tiles, the last forward step is also taken
/// here.
template <class F, int kOutputs>
__device__ __forceinline__ void step_backward(const KernelArguments& args, Block<float>& block,
                                              Held<float, F>& held, int step, bool has_acts,
                                              AllTreeSums& sums) {
  for (int tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) {
    if (!args.one_tile) find_neighbours<float>(args, tile, block.around);
    if (step + 1 < args.steps || !args.one_tile) sample_fires(args, block, tile, step);
    if (!has_acts) {
      const bool is_new = step + 1 == args.steps;
      if (args.kept_acts != nullptr && !is_new) copy_acts(args, block, tile, step, false);
      else forward_tile<float, F, kOutputs>(args, block, held, step);
      if (is_new) {
        store_state(args, block, tile, step);
        __syncthreads();
      }
    }
    wait_for_neighbours(args, block);
    begin_backward(args, block, tile, step);
    update_layers_backward<F, kOutputs>(args, block, held);
    if constexpr (kOutputs > 0) {
      perceive_trees_backward<F, kOutputs>(args, block, sums, step > 0);
    } else {
      perceive_layers_backward(args, block);
    }
    if (step > 0) store_patch_gradients<kOutputs>(args, block, tile, step);
  }
  if (step > 0) publish(args, block);
}

/// The loss of the block's tiles, summed in a fixed order.
__device__ __forceinline__ void add_losses(const KernelArguments& args, double* parts) {
  double total = 0;
  for (int tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) {
    for (int i = threadIdx.x; i < args.loss_channels << args.tile_bits; i += threads()) {
      const int cell = tile * args.tile + (i & (args.tile - 1));
      const int c = i >> args.tile_bits;
      if (cell >= args.cells) continue;
      if (args.cell_losses != nullptr) {
        total += args.cell_losses[std::size_t(cell) * args.loss_channels + c];
        continue;
      }
      const Compared<float> at = compared(args, static_cast<const float*>(args.last), c, cell);
      if (at.target <= 1) total += loss_value(args.loss_kind, args.loss_gamma, at.y, at.target);
    }
  }
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < warps(); ++i) total += parts[i];
    args.block_losses[blockIdx.x] = total;
  }
  __syncthreads();
}

/// The loss of all blocks plus the penalty, reduced by one warp in a fixed order.
__device__ __forceinline__ void store_loss(const KernelArguments& args) {
  if (blockIdx.x != 0 || threadIdx.x >= 32) return;
  double total = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 32) total += __ldcg(args.block_losses + i);
  if (args.gate_penalty > 0) {
    for (int i = threadIdx.x; i < args.gates; i += 32) {
      total += args.gate_penalty * __ldcg(args.penalties + i);
    }
  }
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
  if (threadIdx.x != 0) return;
  const auto loss = static_cast<float>(total);
  *args.loss = loss;
  *args.host_loss = loss;
  if (!is_finite(loss)) *args.nonfinite_launch = args.launch;
}

/// Stores the counters for the next launch. All blocks must have started.
template <class T>
__device__ __forceinline__ void store_counters(const KernelArguments& args, const Block<T>& block) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  args.counters[0] = block.waits;
  args.counters[1] = block.published;
}

/// Updates the parameters whose gradients this thread computed, unless something is not finite.
__device__ __forceinline__ void update_parameters(const KernelArguments& args,
                                                  Block<float>& block) {
  wait_for_all(args, block.waits);
  const bool finite = __ldcg(args.nonfinite_launch) != args.launch;
  const Update& update = args.update;
  const int lane = threadIdx.x & 31;
  const int logits = logits_per_gate(args);
  for (int i = blockIdx.x * warps() + threadIdx.x / 32; i < args.gates; i += gridDim.x * warps()) {
    if (lane >= logits) continue;
    const std::size_t at = std::size_t{args.origin[i] & ~swapped_inputs} * logits + lane;
    float parameter = args.logits[at];
    if (finite) {
      const float gradient =
          noisy(update.factors, clipped(update.factors, args.logit_gradients[at]), at);
      adamw(update.factors.adamw, parameter, update.first[at], update.second[at], gradient);
    }
    update.parameters[at] = parameter;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *update.finite = finite ? 1 : 0;
}

/// Counts the bits of the block's tiles that differ from the target, and marks the cells with
/// errors.
__device__ __forceinline__ void count_errors(const KernelArguments& args) {
  for (int tile = blockIdx.x; tile < args.tiles; tile += gridDim.x) {
    for (int i = threadIdx.x; i < args.tile; i += threads()) {
      const int word = tile * args.tile + i;
      if (word >= args.cells) continue;
      const int there = all_cells(args) - word * 32;
      const unsigned mask = there >= 32 ? ~0U : (1U << there) - 1;
      unsigned bits = 0;
      unsigned cells = 0;
      for (int c = 0; c < args.loss_channels; ++c) {
        const Compared<unsigned> at =
            compared(args, static_cast<const unsigned*>(args.last), c, word);
        const unsigned errors = (at.y ^ at.target) & mask;
        bits += __popc(errors);
        cells |= errors;
      }
      args.errors[word] = make_uint2(bits, cells);
    }
  }
}

}  // namespace boolgrad::cuda::automata
