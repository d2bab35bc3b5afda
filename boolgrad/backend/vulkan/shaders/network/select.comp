// The values of slots: those of the chosen candidates, or mixtures of all. One thread per four
// samples of a slot, or per word of 32 if hard.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "network/slots.glsl"

layout(std430, binding = 19) readonly buffer Chosen { int chosen[]; };

int chosen_source(int slot) { return source_of(slot, chosen[push.first_table + logit_slot(slot)]); }
bool is_outside(int source) { return SHARES_TABLES != 0 && source < 0; }

#ifdef HARD

layout(std430, binding = 17) buffer Words { uint words[]; };

void main() {
  const int word_count = (push.samples + 31) / 32;
  const int i = item();
  if (i >= push.gates * word_count) return;
  const int rows = 2 * push.all_tables;
  const int source = chosen_source(i / word_count);
  uint value = 0;
  if (!is_outside(source)) {
    value = words[rows + (push.in_row + source) * word_count + i % word_count];
  }
  words[rows + push.out_row * word_count + i] = value;
}

#else

layout(std430, binding = 3) buffer Activations { vec4 activations[]; };
layout(std430, binding = 20) readonly buffer Weights { float weights[]; };

vec4 value_of(int source, int vector) {
  if (is_outside(source)) return vec4(0);
  return activations[(push.in_row + source) * push.vectors + vector];
}

vec4 mixture(int slot, int vector) {
  const int first = push.first_quad + logit_slot(slot) * push.candidates;
  precise vec4 sum = vec4(0);
  for (int k = 0; k < push.candidates; ++k) {
    sum += weights[first + k] * value_of(source_of(slot, k), vector);
  }
  return sum;
}

void main() {
  const int i = item();
  if (i >= push.gates * push.vectors) return;
  const int slot = i / push.vectors;
  const int vector = i % push.vectors;
  vec4 value;
  if (MIXES_WIRES != 0) value = mixture(slot, vector);
  else value = value_of(chosen_source(slot), vector);
  activations[push.out_row * push.vectors + i] = value;
}

#endif
