// The tables of a layer's gates, as polynomials or hardened: one thread per softmax16 gate, or per
// table entry.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"
#include "common/random.glsl"

layout(std430, binding = 2) writeonly buffer Coefficients { float coefficients[]; };
layout(std430, binding = 6) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 7) readonly buffer Masks { float masks[]; };  // then the frozen flags
layout(std430, binding = 17) writeonly buffer Words { uint words[]; };

#include "common/hardening.glsl"
#include "network/staged_logits.glsl"

#include "common/gates.glsl"
#include "network/tables.glsl"

float mask_of(int gate) { return masks[push.first_table + gate]; }

#ifdef HARD

/// The hardened table of a gate, as bits.
void make_table_of_sixteen(int gate) {
  const uint table = softmax_table(staged_row()).hard;
  words[2 * (push.first_table + gate)] = mask_of(gate) < 0.5 ? 0 : table;
}

/// The first thread of 32 entries combines them into a word.
void make_table_of_entries(int gate, int entry) {
  entry_values[thread()] = entry_logit(gate, entry);
  barrier();
  if (gate >= push.tables || (entry & 31) != 0) return;
  uint table = 0;
  for (int e = 0; e < min(ENTRIES, 32); ++e) {
    table |= (entry_values[thread() + e] > 0.0 ? 1u : 0u) << e;
  }
  words[2 * (push.first_table + gate) + entry / 32] = mask_of(gate) < 0.5 ? 0 : table;
}

#else

float share_of(int gate) {
  float frozen = 0.0;
  if (HARDENING == HARDENING_FREEZE) frozen = masks[push.all_tables + push.first_table + gate];
  return hardened_share(push.layer, gate, frozen);
}

void make_table_of_sixteen(int gate) {
  const Table made = softmax_table(staged_row());
  const float mask = mask_of(gate);
  const vec4 soft = made.soft * mask;
  const vec4 hard = mask < 0.5 ? vec4(0) : entries_as_floats(made.hard);
  const vec4 c = polynomial_of(soft + (hard - soft) * share_of(gate));
  for (int e = 0; e < 4; ++e) coefficients[(push.first_quad + gate) * 4 + e] = c[e];
}

void make_table_of_entries(int gate, int entry) {
  const bool is_there = gate < push.tables;
  const float z = entry_logit(gate, entry);
  const float mask = is_there ? mask_of(gate) : 0.0;
  const float share = is_there ? share_of(gate) : 0.0;
  const float soft = logistic(z) * mask;
  const float hard = z > 0.0 && mask >= 0.5 ? 1.0 : 0.0;
  float c = soft + (hard - soft) * share;
  for (int bit = 1; bit < ENTRIES; bit *= 2) {
    const float other = across(c, bit);
    if ((entry & bit) != 0) c -= other;
  }
  if (is_there) coefficients[(push.first_quad + gate * QUADS) * 4 + entry] = c;
}

#endif

void main() {
  if (PARAMETRISATION != SOFTMAX16) {
    make_table_of_entries(item() / ENTRIES, item() % ENTRIES);
    return;
  }
  const int first = group() * THREADS;
  stage_logits(first * 16, (push.tables - first) * 16);
  if (item() < push.tables) make_table_of_sixteen(item());
}
