// Gradients of the inputs of trees, gathered from the leaves that read them: one thread per four
// samples of an input.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 1) readonly buffer Wires { int wires[]; };
layout(std430, binding = 12) writeonly buffer InputGradients { vec4 input_gradients[]; };
layout(std430, binding = 22) readonly buffer LeafGradients { vec4 leaf_gradients[]; };

void main() {
  const int i = item();
  if (i >= push.inputs * push.vectors) return;
  const int own = i / push.vectors;
  const int vector = i % push.vectors;
  const int end = wires[push.first_reader + own + 1];
  precise vec4 sum = vec4(0);
  for (int k = wires[push.first_reader + own]; k < end; ++k) {
    sum += leaf_gradients[wires[push.readers + k] * push.vectors + vector];
  }
  input_gradients[i] = sum;
}
