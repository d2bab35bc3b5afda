// What a launch of the automaton's kernel reads. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace boolgrad::cuda {

constexpr int block_threads = 1024;
constexpr int most_layers = 64;
constexpr int neighbourhood = 9;
constexpr int own_place = 4;

struct Layer {
  int inputs;
  int gates;
  int first_gate;    ///< of all layers' gates
  int first_input;   ///< of all layers' lists of first readers
  int first_reader;  ///< of all layers' readers
  int lanes;         ///< that share the gathering of one input
  int gate_bits;     ///< where the number of gates is a power of two; else -1
  int act_row;       ///< of its outputs
};

/// A place where an input is read, and what the gate reads beside it.
struct Reader {
  std::uint16_t gate;  ///< of the layer; the highest bit says that it is the second input
  std::uint16_t partner;
};
constexpr std::uint16_t second_input = 0x8000;

struct Code {
  int channels, cells, height, width, steps, loss_channels;
  bool periodic;
  int perceive_layers, layers, gates;
  int tile, tile_bits, tiles;
  int vector_bits;  ///< a row of a tile has 2^vector_bits vectors of four cells
  int input_rows, act_rows, update_width, perceive_width;
  Layer layer[most_layers];

  const ushort2* sources;
  const std::uint16_t* first_reader;  ///< of a layer's readers, for every input and one more
  const Reader* readers;
  const float* logits;
  float4* coefficients;
  float* states;
  float* read;
  const std::uint8_t* fire;
  const float* target;
  float4* block_sums;
  float* block_losses;
  float* loss;
  float* logit_gradients;
  unsigned* barrier;

  // Memory of a block, in floats from the start of a part. Activations and gradients are one part,
  // what is the same for all tiles the other; each lies in shared memory or, where it does not fit,
  // in this much global memory a block.
  struct {
    int around, acts, g_state, g_update[2], g_perceive[2], floats;
  } work;
  struct {
    int coefficients, sources, readers, first_reader, layers, floats;
  } tables;
  int reader_count, first_reader_count;
  bool sums_are_shared;  ///< behind both
  float* scratch;
  int scratch_floats;
};

/// Runs the kernel; every block must fit on the device at once.
cudaError_t launch_automaton(const Code& code, int blocks, std::size_t shared_bytes, int threads,
                             bool work_is_shared, bool tables_are_shared);

}  // namespace boolgrad::cuda
