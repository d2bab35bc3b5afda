// The kernels of automata: a whole training step, or a rollout, in one launch. Plain device code:
// the headers of the rooms above and of formatting stay out, because this compiler does not take
// them.
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
}  // namespace automata

cudaError_t launch_training(const Code& code, const Launch& launch) {
  using namespace automata;
  const Kernel kernel = with_form(
      launch, [&](auto form) { return training_kernel<decltype(form)>(launch.tree_outputs); });
  return start(kernel, code, launch);
}

cudaError_t launch_soft_rollout(const Code& code, const Launch& launch) {
  return automata::launch_rollout<float>(code, launch);
}

cudaError_t launch_hard_rollout(const Code& code, const Launch& launch) {
  return automata::launch_rollout<unsigned>(code, launch);
}

}  // namespace boolgrad::cuda
