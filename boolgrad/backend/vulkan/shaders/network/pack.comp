// Inputs as bits, 32 samples per word: one thread per word.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) readonly buffer Activations { float activations[]; };
layout(std430, binding = 17) writeonly buffer Words { uint words[]; };

void main() {
  const int word_count = (push.samples + 31) / 32;
  const int i = item();
  if (i >= push.inputs * word_count) return;
  const int first = i % word_count * 32;
  const int row = i / word_count * push.vectors * 4;
  uint bits = 0;
  for (int bit = 0; bit < 32 && first + bit < push.samples; ++bit) {
    if (activations[row + first + bit] > 0.5) bits |= 1u << bit;
  }
  words[2 * push.all_tables + i] = bits;
}
