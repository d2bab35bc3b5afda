// A layer of hardened gates, 32 samples a word: a thread a word of a gate.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network.glsl"

layout(std430, binding = 1) readonly buffer Wires { int wires[]; };
layout(std430, binding = 17) buffer Words { uint words[]; };

/// `low` where `bit` is 0, else `high`.
uint chosen(uint low, uint high, uint bit) { return low ^ ((low ^ high) & bit); }

/// 32 times bit `e` of a table.
uint entry(uvec2 table, int e) { return 0u - (table[e >> 5] >> (e & 31) & 1u); }

void main() {
  const int word_count = (push.samples + 31) / 32;
  const int i = item();
  if (i >= push.gates * word_count) return;
  const int gate = i / word_count;
  const int word = i % word_count;
  uint x[MOST_SLOTS];
  x[1] = 0u;
  for (int s = 0; s < ARITY; ++s) {
    const int row = push.in_row + wires[push.sources + gate * ARITY + s];
    x[s] = words[push.table_words + row * word_count + word];
  }
  const int own = 2 * (push.first_gate + gate);
  const uvec2 table = uvec2(words[own], words[own + 1]);
  // Each input halves the table: where it is 1 the upper half counts, else the lower.
  uint value[MOST_QUADS];
  for (int q = 0; q < QUADS; ++q) {
    value[q] = chosen(chosen(entry(table, 4 * q), entry(table, 4 * q + 1), x[0]),
                      chosen(entry(table, 4 * q + 2), entry(table, 4 * q + 3), x[0]), x[1]);
  }
  for (int s = SLOTS - 1; s >= 2; --s) {
    const int half_way = 1 << (s - 2);
    for (int q = 0; q < half_way; ++q) value[q] = chosen(value[q], value[q + half_way], x[s]);
  }
  words[push.table_words + (push.out_row + gate) * word_count + word] = value[0];
}
