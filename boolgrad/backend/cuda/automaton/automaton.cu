// Automaton kernels: a whole training step, or a rollout, in one launch. Only plain C++17 headers
// may be included, because the CUDA compiler does not accept the C++20 ones.
#include <type_traits>

#include "boolgrad/backend/cuda/automaton/arguments.h"
#include "boolgrad/backend/cuda/automaton/steps.cuh"
#include "boolgrad/backend/cuda/automaton/tables.cuh"

namespace boolgrad::cuda {
namespace automata {
namespace {

template <class T>
__device__ __forceinline__ void copy_all(const T* from, T* to, int count) {
  for (int i = threadIdx.x; i < count; i += threads()) to[i] = from[i];
}

template <class T, class F>
__device__ __forceinline__ Block<T> placed(const KernelArguments& args, float* shared,
                                           Layer* layers) {
  float* work =
      F::work_is_shared ? shared : args.scratch + std::size_t(blockIdx.x) * args.work.words;
  Block<T> block{};
  block.layers = layers;
  block.work = work;
  block.waits = __ldcg(args.counters);
  block.published = __ldcg(args.counters + 1);
  block.around = reinterpret_cast<int*>(work + args.work.around);
  block.fires = reinterpret_cast<unsigned*>(work + args.work.fires);
  block.acts = reinterpret_cast<T*>(work + args.work.acts);
  block.patch = block.acts + args.work.patch;
  block.update_inputs = block.acts + args.work.update_inputs;
  block.edges_even = work + args.work.edges[0];
  block.edges_odd = work + args.work.edges[1];
  block.leftover = work + args.work.leftover;
  block.staging = work + args.work.staging;
  block.tree_rows = work + args.tree_rows;
  if (args.work.perceive_edges[0] >= 0) {
    block.perceive_edges_even = work + args.work.perceive_edges[0];
    block.perceive_edges_odd = work + args.work.perceive_edges[1];
  }
  if constexpr (F::tables_are_shared) {
    block.short_wires = reinterpret_cast<std::uint32_t*>(shared + args.tables.short_wires);
    block.input_reads = reinterpret_cast<Reads*>(shared + args.tables.input_reads);
    block.coefficients = reinterpret_cast<Four<T>*>(shared + args.tables.coefficients);
  } else {
    block.short_wires = args.short_wires;
    block.input_reads = args.input_reads;
    block.coefficients = static_cast<const Four<T>*>(args.coefficients);
  }
  block.sums = args.tables.sums >= 0 ? reinterpret_cast<Four<float>*>(shared + args.tables.sums)
                                     : reinterpret_cast<Four<float>*>(args.block_sums) +
                                           std::size_t(blockIdx.x) * args.gates;
  return block;
}

/// Computes tables and start states, and fills the block's own copies.
template <class T, class F>
__device__ __forceinline__ void prepare(const KernelArguments& args, Block<T>& block, float* shared,
                                        Layer* layers) {
  make_coefficients(args, static_cast<Four<T>*>(args.coefficients));
  sample_starts<T>(args);
  copy_all(args.layer, layers, args.layers);
  if constexpr (F::tables_are_shared) {
    copy_all(args.short_wires, reinterpret_cast<std::uint32_t*>(shared + args.tables.short_wires),
             F::held > 0 ? 0 : args.gates);
    copy_all(args.input_reads, reinterpret_cast<Reads*>(shared + args.tables.input_reads),
             args.input_rows);
  }
  find_neighbours<T>(args, blockIdx.x, block.around);
  wait_for_all(args, block.waits);
  if constexpr (F::tables_are_shared) {
    auto* to = reinterpret_cast<float4*>(shared + args.tables.coefficients);
    const auto* from = static_cast<const float4*>(args.coefficients);
    for (int i = threadIdx.x; i < args.tables.gates; i += threads()) to[i] = __ldcg(from + i);
  }
  __syncthreads();
}

/// Row 0 of the edges stays zero.
__device__ __forceinline__ void clear_zero_rows(const KernelArguments& args,
                                                const Block<float>& block) {
  for (int i = threadIdx.x; i < args.tile; i += threads()) {
    block.edges_even[i] = 0;
    block.edges_odd[i] = 0;
  }
  if (block.perceive_edges_even != nullptr) {
    for (int i = threadIdx.x; i < args.columns; i += threads()) {
      block.perceive_edges_even[i] = 0;
      block.perceive_edges_odd[i] = 0;
    }
  }
  __syncthreads();
}

template <class F, int kOutputs>
__device__ __forceinline__ void store_held_sums(const KernelArguments& args,
                                                const Held<float, F>& held, Four<float>* to) {
#pragma unroll
  for (int l = 0; l < F::held; ++l) {
    if (tree_layers<kOutputs> + l >= args.narrow_from) continue;
    const Layer& layer = wide_layer<kOutputs>(args, l);
    if (threadIdx.x < layer.gates) to[layer.first_gate + threadIdx.x] = held.wide[l].sums;
  }
  const int position = narrow_gates_from(args) + threadIdx.x;
  if (F::held > 0 && position < args.gates) to[position] = held.narrow.sums;
}

template <class F, int kOutputs>
__global__ void __launch_bounds__(F::threads, 1)
    train(const __grid_constant__ KernelArguments args) {
  extern __shared__ float4 shared_words[];
  __shared__ Layer layers[max_layers];
  __shared__ double parts[max_warps];
  __shared__ std::uint64_t copy_barriers[2];
  if (double_buffers(args) && threadIdx.x < 2) init_copy_barrier(&copy_barriers[threadIdx.x]);
  float* shared = reinterpret_cast<float*>(shared_words);
  Block<float> block = placed<float, F>(args, shared, layers);
  prepare<float, F>(args, block, shared, layers);
  Held<float, F> held;
  hold<float, F, kOutputs>(args, held);
  const int first_summed = F::held > 0    ? args.gates
                           : kOutputs > 0 ? block.layers[args.perceive_layers].first_gate
                                          : 0;
  for (int i = first_summed + threadIdx.x; i < args.gates; i += threads()) block.sums[i] = {};
  clear_zero_rows(args, block);
  AllTreeSums sums = {};

  const int steps_ahead = args.one_tile ? args.steps : args.steps - 1;
  for (int step = 0; step < steps_ahead; ++step) {
    select_buffer(args, block, step);
    if (double_buffers(args) && threadIdx.x == 0) wait_until_read();
    if (step > 0) wait_for_neighbours(args, block);
    step_forward<float, F, kOutputs>(args, block, held, step,
                                     args.kept_acts != nullptr && !double_buffers(args));
    begin_saving(args, block, step);
  }
  if (double_buffers(args) && threadIdx.x == 0) wait_until_written();
  const int segment = args.keep_every;
  for (int first = (args.steps - 1) / segment * segment; first >= 0; first -= segment) {
    const int end = min(first + segment, args.steps);
    if (end < args.steps) {
      // The states of this segment were overwritten; recompute them.
      for (int step = first; step + 1 < end; ++step) {
        wait_for_neighbours(args, block);
        step_forward<float, F, kOutputs>(args, block, held, step, false);
      }
      wait_for_neighbours(args, block);
    }
    for (int step = end - 1; step >= first; --step) {
      select_buffer(args, block, step);
      const int copies_in = (args.steps - 1 - step) / 2;  // into this buffer, including this one
      if (double_buffers(args) && copies_in > 0) {
        wait_for_copy_in(&copy_barriers[step & 1], (copies_in - 1) & 1);
      }
      const bool has_acts = double_buffers(args) || (step + 1 == args.steps && args.one_tile);
      step_backward<F, kOutputs>(args, block, held, step, has_acts, sums);
      begin_restoring(args, block, step, copy_barriers);
    }
  }
  auto* block_sums =
      reinterpret_cast<Four<float>*>(args.block_sums) + std::size_t(blockIdx.x) * args.gates;
  if (args.tables.sums >= 0) {
    for (int i = first_summed + threadIdx.x; i < args.gates; i += threads()) {
      block_sums[i] = block.sums[i];
    }
  }
  store_held_sums<F, kOutputs>(args, held, block_sums);
  if constexpr (F::spreads_trees) {
    store_tree_sums<tree_nodes<kOutputs>>(args, sums.of_node);
  } else if constexpr (kOutputs > 0) {
    store_tree_sums<F, tree_nodes<kOutputs>>(args, block.staging, sums.of_lane);
  }
  add_losses(args, parts);
  wait_for_all(args, block.waits);
  make_logit_gradients(args);
  store_loss(args);
  if (args.update.parameters != nullptr) update_parameters(args, block);
  store_counters(args, block);
}

template <class T, class F, int kOutputs>
__global__ void __launch_bounds__(F::threads, 1)
    roll_out(const __grid_constant__ KernelArguments args) {
  extern __shared__ float4 shared_words[];
  __shared__ Layer layers[max_layers];
  __shared__ double parts[max_warps];
  float* shared = reinterpret_cast<float*>(shared_words);
  Block<T> block = placed<T, F>(args, shared, layers);
  prepare<T, F>(args, block, shared, layers);
  Held<T, F> held;
  hold<T, F, kOutputs>(args, held);
  for (int step = 0; step < args.steps; ++step) {
    if (step > 0) wait_for_neighbours(args, block);
    step_forward<T, F, kOutputs>(args, block, held, step, false);
  }
  if constexpr (std::is_same<T, float>::value) {
    add_losses(args, parts);
    wait_for_all(args, block.waits);
    store_loss(args);
  } else {
    __syncthreads();
    count_errors(args);
  }
  store_counters(args, block);
}

using Kernel = void (*)(const KernelArguments);

cudaError_t start(Kernel kernel, const KernelArguments& args, const Launch& launch) {
  const cudaError_t error = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(launch.shared_bytes));
  if (error != cudaSuccess) return error;
  KernelArguments copy = args;
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

/// Calls `f` with the most specialised variant that supports the launch.
template <class Function>
Kernel with_variant(const Launch& launch, Function f) {
  if (!launch.work_is_shared) return f(Variant<false, false, -1>());
  if (launch.holding == Holding::ten) return f(HeldVariant<10, 256, true, 16, 32>());
  if (launch.holding == Holding::fourteen) return f(HeldVariant<14, 256, true, 16, 32>());
  if (launch.holding == Holding::fourteen_of_any) return f(HeldVariant<14, 256, true>());
  if (launch.holding == Holding::eight) return f(HeldVariant<8, 512, false>());
  if (launch.row_bits == 2 && launch.tables_are_shared) return f(Variant<true, true, 2>());
  return launch.tables_are_shared ? f(Variant<true, true, -1>()) : f(Variant<true, false, -1>());
}

template <class T>
cudaError_t launch_rollout(const KernelArguments& args, const Launch& launch) {
  const Kernel kernel = with_variant(launch, [&](auto variant) {
    return rollout_kernel<T, decltype(variant)>(launch.tree_outputs);
  });
  return start(kernel, args, launch);
}

}  // namespace
}  // namespace automata

cudaError_t launch_training(const KernelArguments& args, const Launch& launch) {
  using namespace automata;
  const Kernel kernel = with_variant(launch, [&](auto variant) {
    return training_kernel<decltype(variant)>(launch.tree_outputs);
  });
  return start(kernel, args, launch);
}

cudaError_t launch_soft_rollout(const KernelArguments& args, const Launch& launch) {
  return automata::launch_rollout<float>(args, launch);
}

cudaError_t launch_hard_rollout(const KernelArguments& args, const Launch& launch) {
  return automata::launch_rollout<unsigned>(args, launch);
}

}  // namespace boolgrad::cuda
