// Data structures that the automaton kernels of all devices read. Plain C++17.
#pragma once

#include <cstdint>

namespace boolgrad::layout {

constexpr int neighbourhood = 9;

// Gates are ordered: perception first, layer by layer, and within a layer such that a warp reads
// from different banks of shared memory. The output of a gate is stored in the row of its position.
//
// Gradients are exchanged through edges: a gate writes one gradient for each of its two inputs, and
// the owner of the input sums the gradients written for it. The edge of the first reader of row r
// is row 1 + r, that of the second reader is one stride further, and further readers follow. Row 0
// is always 0: owners read it if there is no reader.

/// One layer of gates.
struct Layer {
  int gates;
  int first_gate;
  int inputs_at;   ///< offset in words from the start of the activations
  int outputs_at;  ///< likewise
};

/// The edges of a value: two rows, and the index of a `Rest`, or -1.
struct Reads {
  std::uint32_t rows;  ///< the first in bits 0 to 15, the second in bits 16 to 31
  int rest;
};

/// The wires of a gate. The second element of a pair is in the upper 16 bits.
struct alignas(16) Wires {
  std::uint32_t sources;  ///< rows of the two inputs
  std::uint32_t edges;    ///< rows of the edges to the inputs
  Reads reads;            ///< edges of the output
};

// A compressed `Wires` in one word, for gates of the update. It holds the rows of both inputs (12
// bits each), whether their edges are one stride further, and whether the output has a first and a
// second reader. Two flags mark sources or edges that do not fit, for which the full `Wires` are
// read.
constexpr int short_row_bits = 12;
constexpr std::uint32_t short_row_mask = (1U << short_row_bits) - 1;
constexpr int second_edges_bit = 24;
constexpr std::uint32_t read_once = 1U << 26;
constexpr std::uint32_t read_again = 1U << 27;
constexpr std::uint32_t long_sources = 1U << 30;
constexpr std::uint32_t long_edges = 1U << 31;

/// The rows of the third and all further readers.
struct Rest {
  std::uint16_t first;
  std::uint16_t count;
};

/// The memory layout of a thread block that processes a tile of cells, in words from the start of
/// its memory. `patch` and `update_inputs` are relative to the activations.
struct WorkOffsets {
  int around, fires, acts, patch, update_inputs;
  int acts_words;  ///< size of all activations
  int edges[2];    ///< edges to the inputs of even and odd layers
  int leftover, staging;
  int perceive_edges[2];  ///< -1 if kernels are trees, which have none
  int words;              ///< total size
  bool staging_in_acts;   ///< whether staging reuses the memory of activations
};

// Flag in the parameter index of a gate whose inputs were swapped.
constexpr std::uint32_t swapped_inputs = 0x80000000;

}  // namespace boolgrad::layout
