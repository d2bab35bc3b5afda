// Outputs summed by class, in parts: a thread for four samples of a part.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 19) writeonly buffer Scores { vec4 scores[]; };

void main() {
  const int i = item();
  if (i >= push.classes * push.class_parts * push.vectors) return;
  const int vector = i % push.vectors;
  const int part = i / push.vectors % push.class_parts;
  const int first = i / push.vectors / push.class_parts * push.gates_a_row;
  const int gates = (push.gates_a_row + push.class_parts - 1) / push.class_parts;
  const int end = first + min(push.gates_a_row, (part + 1) * gates);
  precise vec4 sum = vec4(0);
  for (int gate = first + part * gates; gate < end; ++gate) {
    sum += activations[(push.out_row + gate) * push.vectors + vector];
  }
  scores[i] = sum;
}
