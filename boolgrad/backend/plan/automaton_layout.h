// The parts of a plan for the kernels of automata, as devices read them. Plain C++17.
#pragma once

#include <cstdint>

namespace boolgrad::layout {

constexpr int neighbourhood = 9;

// Gates have positions: perception first, layer by layer, and within a layer in the order that
// keeps a warp's reads on different banks. A layer's output lies at the row of its gate's position.
//
// Gradients travel on edges: a gate writes what goes back to each of its two inputs, and the owner
// of that input adds up what was written for it. The edges of the input at row r lie in row 1 + r
// and, for a second reader, a stride of rows below; those of further readers come after. Row 0 is
// always 0: it is what owners read where nobody else does.

struct Layer {
  int gates;
  int first_gate;
  int inputs_at;  ///< in words from the start of the activations
  int outputs_at;
};

/// Where the edges of a value are: two rows, and the number of a `Rest`, or -1.
struct Reads {
  std::uint32_t rows;  ///< the second from bit 16 on
  int rest;
};

/// The wires of a gate. Of pairs the second is in the upper 16 bits.
struct alignas(16) Wires {
  std::uint32_t sources;  ///< rows of the two inputs
  std::uint32_t edges;    ///< rows of the edges to them
  Reads reads;            ///< of the gate's output
};

// The same in a word, for gates of the update: rows of both inputs, 12 bits each; whether their
// edges lie a stride below; whether the output's edges lie in its row, and a stride below; and
// whether that does not say all and the `Wires` do: of the sources, or of the edges.
constexpr int short_row_bits = 12;
constexpr std::uint32_t short_row_mask = (1U << short_row_bits) - 1;
constexpr int second_edges_bit = 24;
constexpr std::uint32_t read_once = 1U << 26;
constexpr std::uint32_t read_again = 1U << 27;
constexpr std::uint32_t long_sources = 1U << 30;
constexpr std::uint32_t long_edges = 1U << 31;

/// Rows of the third and all further readers.
struct Rest {
  std::uint16_t first;
  std::uint16_t count;
};

/// Where a block keeps what belongs to a tile of cells, in words from the start of its memory;
/// `patch` and `update_inputs` in words from the start of the activations.
struct WorkOffsets {
  int around, fires, acts, patch, update_inputs;
  int acts_words;  ///< of all activations
  int edges[2];    ///< of the inputs of layers with even and odd numbers
  int leftover, staging;
  int perceive_edges[2];  ///< -1: there are none, where kernels are trees
  int words;              ///< of all
  bool staging_in_acts;   ///< it takes the place of activations
};

// A gate's place among all parameters; this bit says that its inputs were swapped.
constexpr std::uint32_t swapped_inputs = 0x80000000;

}  // namespace boolgrad::layout
