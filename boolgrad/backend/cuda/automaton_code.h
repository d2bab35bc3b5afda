// What a launch of the automaton's kernels reads. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/cuda/forms.h"

namespace boolgrad::cuda {

constexpr int block_threads = 512;
constexpr int block_warps = block_threads / 32;
constexpr int most_layers = 64;
constexpr int neighbourhood = 9;

// Gates have positions: perception first, layer by layer, and within a layer in the order that
// keeps a warp's reads on different banks. A layer's output lies at the row of its gate's position.
//
// Gradients travel on edges: a gate writes what goes back to each of its two inputs, and whoever
// owns that input adds up what was written for it. The edges of a layer's input at row r lie in row
// r and, for a second reader, one stride below; those of further readers come after.

struct Layer {
  int gates;
  int first_gate;
  int inputs_at;   ///< in words from the start of the activations
  int outputs_at;
  int stride;      ///< rows of inputs
};

/// The wires of a gate.
struct Wires {
  std::uint32_t sources;  ///< rows of the first input and, from bit 16 on, of the second
  std::uint32_t edges;    ///< as below
};

// Bits of `edges`. Whether the edges of the gate's own output lie in its row, and a stride below:
constexpr std::uint32_t read_once = 1;
constexpr std::uint32_t read_again = 2;
// Where the edges to the two inputs lie: in the input's row, a stride below, or elsewhere.
constexpr int first_edge_bit = 2;
constexpr int second_edge_bit = 4;
constexpr std::uint32_t edge_mask = 3;
constexpr std::uint32_t edge_elsewhere = 2;
// From bit 8 on, one more than the place of a `Rest`, where there is one.
constexpr int rest_bit = 8;

/// Edges that do not lie in the two rows of their input.
struct Rest {
  std::uint16_t first_read;  ///< row of further readers of the gate's output
  std::uint16_t reads;
  std::uint16_t edges[2];  ///< rows of the edges to the two inputs
};

// A gate's place among all parameters; this bit says that its inputs were swapped.
constexpr std::uint32_t swapped_inputs = 0x80000000;

/// What is drawn for a launch. Streams are those of whoever draws the same on the host.
struct Draws {
  std::uint64_t seed;
  std::uint32_t start_stream, fire_stream, hard_stream;
  std::uint32_t draw;
  bool starts_are_random;  ///< else they are in place
  bool fires_by_chance;    ///< else all cells do, or `fire` says who
  double fire_scaled;      ///< the rate times 2^32
  HardForm hard;
  double share;
  double share_scaled;  ///< times 2^32
};

struct Code {
  int channels, kernels, samples, height, width, steps, loss_channels;
  int cells;       ///< words of them: one a cell, or one for a cell of 32 samples
  int grid_cells;  ///< of one grid
  bool periodic;
  bool softmax;  ///< 16 logits a gate, else 4
  int perceive_layers, layers, gates;
  int tile, tile_bits, tiles;
  bool one_tile;  ///< a block at most
  Layer layer[most_layers];
  int places[neighbourhood];  ///< of the rows of a patch: 4 is the cell itself
  int opposite[neighbourhood];  ///< the row of the place on the other side
  int own_row;                  ///< of a patch
  std::uint32_t patch_reads[neighbourhood];  ///< of the rows of a patch, as in `Wires::edges`

  const Wires* wires;
  const std::uint32_t* input_reads;  ///< of the rows that the update reads, as in `Wires::edges`
  int input_rows;
  const Rest* rest;
  const std::uint32_t* origin;  ///< of positions
  const std::uint32_t* layer_of;  ///< number of a parameter's layer and, from bit 8 on, its first gate

  const float* logits;
  const float* masks;      ///< of gates
  void* coefficients;      ///< four words a gate
  // States are [cells][channels]. All are kept; or every n-th, with those between for a stretch; or,
  // where n is 0, the start and the last two.
  void* states;
  void* stretch;
  void* last;
  int keep_every;
  float* kept_acts;  ///< [steps][tiles][acts], where everything is kept
  float* read;       ///< [2][cells][9][channels]: gradients of patches
  const std::uint8_t* fire;
  const void* target;  ///< [cells][loss channels]
  LossForm loss_form;
  float loss_gamma;
  float4* block_sums;
  double* block_losses;
  float* loss;
  float* logit_gradients;
  uint2* wrong;  ///< of a word of cells: wrong bits, and the samples that have some

  unsigned* barrier;  ///< 0 before a launch, as are the flags
  unsigned* flags;    ///< of blocks: what they have published
  Draws draws;

  // Memory of a block in words. Activations and edges lie in shared memory or, where they do not
  // fit, in this much global memory a block; so does each table.
  struct {
    int around, fires, acts, patch, update_inputs, acts_words, edges[2], leftover, staging,
        perceive_edges[2], words;
  } work;
  int coefficients_at, wires_at, reads_at, sums_at;  ///< in shared memory; -1 where it is not
  float* scratch;
};

/// How a launch is made.
struct Launch {
  int blocks;
  std::size_t shared_bytes;
  bool work_is_shared;
  int tree_outputs;  ///< of kernels that are trees of 8, 4, 2 (and 1) gates; 0 for others
  cudaStream_t stream;
};

/// Loss, gradients and states of a training step. Every block must fit on the device at once.
cudaError_t launch_training(const Code& code, const Launch& launch);

/// States and loss of soft gates, or states and wrong bits of hard ones on words of 32 samples.
cudaError_t launch_soft_rollout(const Code& code, const Launch& launch);
cudaError_t launch_hard_rollout(const Code& code, const Launch& launch);

}  // namespace boolgrad::cuda
