// A layer of hardened gates, 32 samples per word: one thread per word of a gate. Each input halves
// the table: the upper half if it is 1, else the lower.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 1) readonly buffer Wires { int wires[]; };
layout(std430, binding = 17) buffer Words { uint words[]; };

/// The table and inputs of a gate; missing inputs are 0.
struct GateWords {
  uvec2 table;
  uint a, b, c, d, e, f;
};

uint input_of(int gate, int slot, int word) {
  const int source = wires[push.sources + gate * ARITY + slot];
  if (SHARES_TABLES != 0 && source < 0) return 0;
  return words[2 * push.all_tables + (push.in_row + source) * ((push.samples + 31) / 32) + word];
}

GateWords words_of(int gate, int word) {
  const int table = SHARES_TABLES == 0 ? gate : gate / push.positions;
  const int own = 2 * (push.first_table + table);
  GateWords x = GateWords(uvec2(words[own], words[own + 1]), 0, 0, 0, 0, 0, 0);
  x.a = input_of(gate, 0, word);
  if (ARITY > 1) x.b = input_of(gate, 1, word);
  if (ARITY > 2) x.c = input_of(gate, 2, word);
  if (ARITY > 3) x.d = input_of(gate, 3, word);
  if (ARITY > 4) x.e = input_of(gate, 4, word);
  if (ARITY > 5) x.f = input_of(gate, 5, word);
  return x;
}

/// `low` where `bit` is 0, else `high`.
uint chosen(uint low, uint high, uint bit) { return low ^ ((low ^ high) & bit); }

/// Bit `e` of the table, replicated 32 times.
uint entry(GateWords x, int e) { return 0u - ((e < 32 ? x.table.x : x.table.y) >> (e & 31) & 1u); }

// Sub-tables of two to six inputs, starting at an entry.

uint of_two(int e, GateWords x) {
  return chosen(chosen(entry(x, e), entry(x, e + 1), x.a),
                chosen(entry(x, e + 2), entry(x, e + 3), x.a), x.b);
}

uint of_three(int e, GateWords x) { return chosen(of_two(e, x), of_two(e + 4, x), x.c); }
uint of_four(int e, GateWords x) { return chosen(of_three(e, x), of_three(e + 8, x), x.d); }
uint of_five(int e, GateWords x) { return chosen(of_four(e, x), of_four(e + 16, x), x.e); }
uint of_six(int e, GateWords x) { return chosen(of_five(e, x), of_five(e + 32, x), x.f); }

uint output_of(GateWords x) {
  if (ARITY == 3) return of_three(0, x);
  if (ARITY == 4) return of_four(0, x);
  if (ARITY == 5) return of_five(0, x);
  if (ARITY == 6) return of_six(0, x);
  return of_two(0, x);
}

void main() {
  const int word_count = (push.samples + 31) / 32;
  const int i = item();
  if (i >= push.gates * word_count) return;
  words[2 * push.all_tables + push.out_row * word_count + i] =
      output_of(words_of(i / word_count, i % word_count));
}
