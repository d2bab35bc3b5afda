// Grids of hardened automata: [channels][batch][height][pitch] words, each with 32 cells of a row.
// Shared by all their shaders. Must match `bit_automaton.cpp`.

layout(local_size_x_id = 0) in;

layout(push_constant) uniform Push {
  uint channels, batch, height, width;
  uint words;          // words of a row that hold cells
  uint pitch;          // words from one row to the next
  uint channel_words;  // words from one channel to the next
  uint periodic;
  uint first, end;  // range of words of the dispatch: of all grids, or of a rectangle
  uint sources, runs, sinks;
  uint fires;                     // whether only some cells fire
  uint top, left, rows, columns;  // the rectangle
  uint seed_low, seed_high, stream, draw;
  uint always, below;  // cells fire if `always`, or if their random bits are less than `below`
}
push;

layout(std430, binding = 0) buffer Now { uint now[]; };
layout(std430, binding = 1) buffer Next { uint next[]; };
layout(std430, binding = 6) buffer Fire { uint fire[]; };

/// Mask of the bits of word `w` of a row that are cells.
uint cells_of(uint w) {
  return w + 1 == push.words && push.width % 32 != 0 ? (1u << (push.width % 32)) - 1 : ~0u;
}
