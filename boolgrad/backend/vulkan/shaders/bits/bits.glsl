// Grids of hardened automata: [channels][batch][height][pitch], a word 32 cells of a row. What all
// their shaders read; the host's side of it is in `bit_automaton.cpp`.

layout(local_size_x_id = 0) in;

layout(push_constant) uniform Push {
  uint channels, batch, height, width;
  uint words;          // of a row that hold cells
  uint pitch;          // words from a row to the next
  uint channel_words;  // words from a channel to the next
  uint periodic;
  uint first, end;  // what the dispatch is for: words of all grids, or of a rectangle
  uint sources, runs, sinks;
  uint fires;                     // whether only some cells do
  uint top, left, rows, columns;  // of a rectangle
  uint seed_low, seed_high, stream, draw;
  uint always, below;  // who fires: all, or those whose random bits are below
}
push;

layout(std430, binding = 0) buffer Now { uint now[]; };
layout(std430, binding = 1) buffer Next { uint next[]; };
layout(std430, binding = 6) buffer Fire { uint fire[]; };

/// Bits of word `w` of a row that are cells.
uint cells_of(uint w) {
  return w + 1 == push.words && push.width % 32 != 0 ? (1u << (push.width % 32)) - 1 : ~0u;
}
