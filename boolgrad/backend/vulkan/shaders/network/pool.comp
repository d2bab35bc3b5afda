// A layer of pooling: the maximum of the inputs of a gate. One thread per four samples of a gate,
// or per word of 32 if hard.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#ifdef HARD

layout(std430, binding = 1) readonly buffer Wires { int wires[]; };
layout(std430, binding = 17) buffer Words { uint words[]; };

void main() {
  const int word_count = (push.samples + 31) / 32;
  const int i = item();
  if (i >= push.gates * word_count) return;
  const int rows = 2 * push.all_tables;
  uint any = 0;
  for (int slot = 0; slot < ARITY; ++slot) {
    const int row = push.in_row + wires[push.sources + i / word_count * ARITY + slot];
    any |= words[rows + row * word_count + i % word_count];
  }
  words[rows + push.out_row * word_count + i] = any;
}

#else

layout(std430, binding = 3) buffer Activations { vec4 activations[]; };

#include "network/wires.glsl"

void main() {
  const int i = item();
  if (i >= push.gates * push.vectors) return;
  const int gate = i / push.vectors;
  const int vector = i % push.vectors;
  vec4 largest = input_of(gate, 0, vector);
  for (int slot = 1; slot < ARITY; ++slot) largest = max(largest, input_of(gate, slot, vector));
  activations[push.out_row * push.vectors + i] = largest;
}

#endif
