// What a launch of the automaton's kernels reads. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/cuda/optimiser/arguments.h"
#include "boolgrad/backend/options/hardening.h"
#include "boolgrad/backend/options/loss.h"
#include "boolgrad/backend/options/parametrisation.h"
#include "boolgrad/backend/plan/automaton_layout.h"

namespace boolgrad::cuda {

using namespace layout;  // what the plan of a rule consists of

constexpr int max_threads = 512;
constexpr int max_warps = max_threads / 32;
constexpr int max_layers = 64;

/// Rows of a tree: gradients of 15 nodes and values of 14, or of 14 and 12. An odd number of rows
/// that are an odd number of vectors long: kernels lie on different banks.
__host__ __device__ constexpr int spread_rows(int tree_outputs) {
  return tree_outputs == 1 ? 29 : 27;
}
__host__ __device__ constexpr int tree_row_words(int columns) {
  return columns % 8 == 0 ? columns + 4 : columns;
}

/// What is drawn for a launch. Streams are those of the host, which draws the same.
struct Draws {
  std::uint64_t seed;
  std::uint32_t start_stream, fire_stream;
  std::uint32_t draw;
  std::uint64_t cells;      ///< of all samples that are drawn at once
  bool starts_are_random;   ///< else they are in place
  bool fires_by_chance;     ///< else all cells do, or `fire` says who
  double fire_scaled;       ///< the rate times 2^32
  HardeningStep hardening;  ///< of kind `none` where tables are soft
  double share_scaled;      ///< its share times 2^32
};

/// How parameters are updated once their gradients are there.
struct Update {
  float* parameters;  ///< where the new ones go; null where nothing is updated
  float* first;
  float* second;
  int* finite;  ///< on the host: whether they were
  UpdateArguments factors;
};

struct KernelArguments {
  int channels, kernels, samples, height, width, steps, loss_channels;
  int cells;       ///< words of them: one a cell, or one for 32 cells in a row
  int grid_cells;  ///< of one grid
  bool periodic;
  Parametrisation parametrisation;
  int perceive_layers, layers, gates;
  int narrow_from;  ///< the first of the last layers that have no more gates together than threads
  int tile, tile_bits, tiles;
  int columns;      ///< words of a row of the patch: channels times tile
  int column_bits;  ///< where that is a power of two; else -1
  bool one_tile;    ///< a block at most
  Layer layer[max_layers];
  int places[neighbourhood];         ///< of the rows of a patch: 4 is the cell itself
  int opposite[neighbourhood];       ///< the row of the place on the other side
  int own_row;                       ///< of a patch
  Reads patch_reads[neighbourhood];  ///< of the rows of a patch

  const Wires* wires;
  const std::uint32_t* short_wires;
  const Reads* input_reads;  ///< of the rows that the update reads
  int input_rows;
  const Rest* rest;
  const std::uint32_t* origin;  ///< of positions
  const std::uint32_t*
      layer_of;  ///< number of a parameter's layer and, from bit 8 on, its first gate

  const float* logits;
  /// What tables are made of: the logits; or, where these are changed first, `step_logits`, which
  /// the launch writes: those of entries for Walsh coefficients, those of the step where hardening
  /// changes them.
  const float* table_logits;
  float* step_logits;   ///< or null
  const float* masks;   ///< of gates
  const float* frozen;  ///< of gates: 1 where one is frozen; null where none is
  void* coefficients;   ///< four words per gate
  // States are [cells][channels]. All are kept; or every n-th, with those between for a stretch;
  // or, where n is 0, the start and the last two.
  void* states;
  void* stretch;
  void* last;
  int keep_every;
  float* kept_acts;  ///< [steps][tiles][acts], where everything is kept
  float* read;       ///< [2][cells][9][channels]: gradients of patches
  const std::uint8_t* fire;
  const void* target;  ///< [cells][loss channels]
  LossKind loss_kind;
  float loss_gamma;
  int loss_steps;       ///< last states that the loss is summed over
  double* cell_losses;  ///< [cells][loss channels] of all those states; null where it is one
  double gate_penalty;  ///< 0: none
  double* penalties;    ///< [gates], before they are multiplied by it
  float4* block_sums;
  double* block_losses;
  float* loss;
  float* seen_loss;  ///< the same on the host
  float* logit_gradients;
  uint2* wrong;  ///< on the host, of a word of cells: wrong bits, and the cells that have some

  unsigned* barrier;
  unsigned* flags;    ///< of blocks: what they have published
  unsigned* counted;  ///< how far the launches before have counted: waits for all, and publishing
  unsigned launch;    ///< the number of this launch
  unsigned* broken;   ///< that number, where a gradient or the loss is not finite
  Update update;
  Draws draws;

  // Memory of a block in words. Activations and edges lie in shared memory or, where they do not
  // fit, in this much global memory per block; so do the tables, all or none.
  WorkOffsets work;
  int other_acts;  ///< a second place for activations, in shared memory; -1: there is none
  int tree_rows;   ///< for [kernels][spread_rows()] rows, where trees are spread
  struct {
    int coefficients, short_wires, input_reads, sums;
    int gates;  ///< that have coefficients here
  } tables;     ///< in shared memory, where they are there; sums may be -1
  float* scratch;
};

/// Whether threads keep in registers what belongs to their gates of the update: in up to so many
/// wide layers, of 256 threads or, for eight, of 512. Ten and fourteen are for sixteen kernels and
/// patches of 32 columns, as most have that are published.
enum class Holding : std::uint8_t { nothing, eight, ten, fourteen, fourteen_of_any };

constexpr int held_layers(Holding holding) {
  return holding == Holding::nothing ? 0
         : holding == Holding::eight ? 8
         : holding == Holding::ten   ? 10
                                     : 14;
}
constexpr int held_threads(Holding holding) { return holding == Holding::eight ? 512 : 256; }
/// Where coefficients are held, trees are spread.
constexpr bool holds_coefficients(Holding holding) {
  return holding != Holding::nothing && holding != Holding::eight;
}

/// How a launch is made.
struct Launch {
  int blocks, threads;
  std::size_t shared_bytes;
  bool work_is_shared, tables_are_shared;
  Holding holding;
  int row_bits;      ///< a row is 2^row_bits times four cells, a thread has one gate; -1 for others
  int tree_outputs;  ///< of kernels that are trees of 8, 4, 2 (and 1) gates; 0 for others
  cudaStream_t stream;
};

/// Loss, gradients and states of a training step. Every block must fit on the device at once.
cudaError_t launch_training(const KernelArguments& args, const Launch& launch);

/// States and loss of soft gates, or states and wrong bits of hard ones on words of 32 cells.
cudaError_t launch_soft_rollout(const KernelArguments& args, const Launch& launch);
cudaError_t launch_hard_rollout(const KernelArguments& args, const Launch& launch);

}  // namespace boolgrad::cuda
