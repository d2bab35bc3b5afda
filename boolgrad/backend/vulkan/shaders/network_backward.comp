// Gradients of a layer's inputs, gathered from the gates that read them: a thread for four samples
// of an input.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network.glsl"
#include "polynomial.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 12) writeonly buffer InputGradients { vec4 input_gradients[]; };

const int SLOT_BITS = 3;

/// What a gate passes back to its input `slot`.
vec4 passed_back(int gate, int slot, int vector) {
  vec4 x[MOST_SLOTS];
  x[1] = vec4(0);
  for (int s = 0; s < ARITY; ++s) {
    x[s] = activations[source_row(gate, s) * push.vectors + vector];
  }
  const int row = gate / push.gates_a_row;
  return output_gradients[row * push.vectors + vector] * polynomial(gate, x, slot);
}

void main() {
  const int i = item();
  if (i >= push.inputs * push.vectors) return;
  const int own = i / push.vectors;
  const int vector = i % push.vectors;
  const int end = wires[push.first_reader + own + 1];
  precise vec4 sum = vec4(0);
  for (int k = wires[push.first_reader + own]; k < end; ++k) {
    const int reader = wires[push.readers + k];
    sum += passed_back(reader >> SLOT_BITS, reader & ((1 << SLOT_BITS) - 1), vector);
  }
  input_gradients[i] = sum;
}
