// The tables of a layer's gates out of their logits, as polynomials or hardened: a thread a gate of
// sixteen logits, or an entry of another.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"

layout(std430, binding = 2) writeonly buffer Coefficients { float coefficients[]; };
layout(std430, binding = 6) readonly buffer Logits { float logits[]; };
layout(std430, binding = 7) readonly buffer Masks { float masks[]; };
layout(std430, binding = 17) writeonly buffer Words { uint words[]; };

#include "network/staged_logits.glsl"

#include "common/gates.glsl"
#include "network/tables.glsl"

float mask_of(int gate) { return masks[push.first_gate + gate]; }

#ifdef HARD

/// Its entries as bits.
void make_table_of_sixteen(int gate) {
  const uint table = softmax_table(staged_row()).hard;
  words[2 * (push.first_gate + gate)] = mask_of(gate) < 0.5 ? 0 : table;
}

/// The first thread of 32 entries puts them together.
void make_table_of_entries(int gate, int entry) {
  entry_values[thread()] = entry_logit(gate, entry);
  barrier();
  if (gate >= push.gates || (entry & 31) != 0) return;
  uint table = 0;
  for (int e = 0; e < min(ENTRIES, 32); ++e) {
    table |= (entry_values[thread() + e] > 0.0 ? 1u : 0u) << e;
  }
  words[2 * (push.first_gate + gate) + entry / 32] = mask_of(gate) < 0.5 ? 0 : table;
}

#else

float hardened(float soft, float hard) { return soft + (hard - soft) * numbers.share; }

void make_table_of_sixteen(int gate) {
  const Table made = softmax_table(staged_row());
  const vec4 hard = entries_as_floats(made.hard);
  vec4 table = vec4(0);
  for (int e = 0; e < 4; ++e) table[e] = hardened(made.soft[e], hard[e]) * mask_of(gate);
  const vec4 c = polynomial_of(table);
  for (int e = 0; e < 4; ++e) coefficients[(push.first_quad + gate) * 4 + e] = c[e];
}

void make_table_of_entries(int gate, int entry) {
  const float z = entry_logit(gate, entry);
  float c = hardened(logistic(z), z > 0.0 ? 1.0 : 0.0);
  for (int bit = 1; bit < ENTRIES; bit *= 2) {
    const float other = across(c, bit);
    if ((entry & bit) != 0) c -= other;
  }
  if (gate >= push.gates) return;
  coefficients[(push.first_quad + gate * QUADS) * 4 + entry] = c * mask_of(gate);
}

#endif

void main() {
  if (SOFTMAX == 0) {
    make_table_of_entries(item() / ENTRIES, item() % ENTRIES);
    return;
  }
  const int first = group() * THREADS;
  stage_logits(push.first_logit + first * 16, (push.gates - first) * 16);
  if (item() < push.gates) make_table_of_sixteen(item());
}
