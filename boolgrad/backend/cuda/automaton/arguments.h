// Arguments of the automaton kernels. Internal to `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/cuda/optimiser/arguments.h"
#include "boolgrad/backend/plan/automaton_layout.h"
#include "boolgrad/options/hardening.h"
#include "boolgrad/options/loss.h"
#include "boolgrad/options/parametrisation.h"

namespace boolgrad::cuda {

using namespace layout;  // the parts of a rule's plan

constexpr int max_threads = 512;
constexpr int max_warps = max_threads / 32;
constexpr int max_layers = 64;

/// Rows of a tree: gradients of 15 nodes and values of 14, or gradients of 14 nodes and values of
/// 12. The number of rows and the vectors per row are both odd, so that kernels fall on different
/// banks.
__host__ __device__ constexpr int spread_rows(int tree_outputs) {
  return tree_outputs == 1 ? 29 : 27;
}
__host__ __device__ constexpr int tree_row_words(int columns) {
  return columns % 8 == 0 ? columns + 4 : columns;
}

/// Random numbers of a launch. The host uses the same streams and samples the same values.
struct Draws {
  std::uint64_t seed;
  std::uint32_t start_stream, fire_stream;
  std::uint32_t draw;
  std::uint64_t cells;      ///< of all samples that share the streams
  bool starts_are_random;   ///< else the start states are already in `states`
  bool fires_by_chance;     ///< else all cells fire, or those set in `fire`
  double fire_scaled;       ///< firing rate times 2^32
  HardeningStep hardening;  ///< kind `none` if tables are soft
  double share_scaled;      ///< its share times 2^32
};

/// How parameters are updated once their gradients are known.
struct Update {
  float* parameters;  ///< output; null: no update
  float* first;
  float* second;
  int* finite;  ///< on the host: 1 if loss and gradients were finite
  UpdateArguments factors;
};

struct KernelArguments {
  int channels, kernels, samples, height, width, steps, loss_channels;
  int cells;       ///< words: one per cell, or one per 32 consecutive cells
  int grid_cells;  ///< cells of one grid
  bool periodic;
  Parametrisation parametrisation;
  int perceive_layers, layers, gates;
  int narrow_from;  ///< first of the trailing layers whose gates together fit one per thread
  int tile, tile_bits, tiles;
  int columns;      ///< words per patch row: channels times tile
  int column_bits;  ///< log2(columns) if that is an integer; else -1
  bool one_tile;    ///< at most one tile per block
  Layer layer[max_layers];
  int positions[neighbourhood];      ///< neighbour of each patch row, 0 to 8; 4 is the cell itself
  int opposite[neighbourhood];       ///< patch row of the opposite neighbour
  int own_row;                       ///< patch row of the cell itself
  Reads patch_reads[neighbourhood];  ///< one per patch row

  const Wires* wires;
  const std::uint32_t* short_wires;
  const Reads* input_reads;  ///< one per row that the update reads
  int input_rows;
  const Rest* rest;
  const std::uint32_t* origin;  ///< [gates]: parameter index of each position
  const std::uint32_t*
      layer_of;  ///< of each parameter: bits 0 to 7 its layer, the rest the layer's first gate

  const float* logits;
  /// Tables are computed from these: `logits`, or `step_logits` if the launch transforms them first
  /// (Walsh coefficients to entry logits, or hardening).
  const float* table_logits;
  float* step_logits;   ///< null if not needed
  const float* masks;   ///< one per gate
  const float* frozen;  ///< one per gate: 1 if frozen; null if none is
  void* coefficients;   ///< four words per gate
  // States are [cells][channels]. `keep_every` n > 0: every n-th state is kept, and `segment` holds
  // those in between for one segment. n = 0: only the first state and the last two are kept.
  void* states;
  void* segment;
  void* last;
  int keep_every;
  float* kept_acts;  ///< [steps][tiles][acts] if all activations are kept
  float* read;       ///< [2][cells][9][channels]: gradients of patches
  const std::uint8_t* fire;
  const void* target;  ///< [cells][loss channels]
  LossKind loss_kind;
  float loss_gamma;
  int loss_steps;       ///< number of final states that the loss is summed over
  double* cell_losses;  ///< [cells][loss channels], summed over those states; null if there is only
                        ///< one
  double gate_penalty;  ///< weight; 0: none
  double* penalties;    ///< [gates], before multiplication by the weight
  float4* block_sums;
  double* block_losses;
  float* loss;
  float* host_loss;  ///< copy in host memory
  float* logit_gradients;
  uint2* errors;  ///< in host memory, one per word of cells: number of wrong bits, and mask of
                  ///< cells with errors

  unsigned* barrier;
  unsigned* flags;             ///< one per block: its progress counter
  unsigned* counters;          ///< counters left by the previous launches: grid barriers, progress
  unsigned launch;             ///< index of this launch
  unsigned* nonfinite_launch;  ///< index of the last launch with a non-finite gradient or loss
  Update update;
  Draws draws;

  // Offsets into a block's memory, in words. Activations and edges are in shared memory or, if they
  // do not fit, in `scratch` in global memory. Tables are either all in shared memory or all in
  // global memory.
  WorkOffsets work;
  int second_acts;  ///< second activation buffer, in shared memory; -1: none
  int tree_rows;    ///< [kernels][spread_rows()] rows, if trees are spread
  struct {
    int coefficients, short_wires, input_reads, sums;
    int gates;  ///< gates that have coefficients here
  } tables;     ///< offsets in shared memory, if tables are there; sums may be -1
  float* scratch;
};

/// What threads keep in registers about their gates of the update: for how many wide layers, with
/// 256 threads per block (512 for `eight`). `ten` and `fourteen` are specialised for 16 kernels and
/// patches of 32 columns, the most common published sizes.
enum class Holding : std::uint8_t { nothing, eight, ten, fourteen, fourteen_of_any };

constexpr int held_layers(Holding holding) {
  return holding == Holding::nothing ? 0
         : holding == Holding::eight ? 8
         : holding == Holding::ten   ? 10
                                     : 14;
}
constexpr int held_threads(Holding holding) { return holding == Holding::eight ? 512 : 256; }
/// Trees are spread exactly where coefficients are held in registers.
constexpr bool holds_coefficients(Holding holding) {
  return holding != Holding::nothing && holding != Holding::eight;
}

/// Launch configuration.
struct Launch {
  int blocks, threads;
  std::size_t shared_bytes;
  bool work_is_shared, tables_are_shared;
  Holding holding;
  int row_bits;      ///< a row is 2^row_bits times four cells and each thread has one gate; -1:
                     ///< neither
  int tree_outputs;  ///< outputs of kernels that are trees of 8, 4, 2 (and 1) gates; 0: no trees
  cudaStream_t stream;
};

/// Loss, gradients and states of one training step. All blocks must be resident at the same time.
cudaError_t launch_training(const KernelArguments& args, const Launch& launch);

/// States and loss of soft gates; or states and bit errors of hard gates, on words of 32 cells.
cudaError_t launch_soft_rollout(const KernelArguments& args, const Launch& launch);
cudaError_t launch_hard_rollout(const KernelArguments& args, const Launch& launch);

}  // namespace boolgrad::cuda
