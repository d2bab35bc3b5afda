// Gradients of a layer's inputs, gathered from the gates that read them: one thread per four
// samples of an input.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 12) writeonly buffer InputGradients { vec4 input_gradients[]; };

#include "network/polynomial.glsl"

void main() {
  const int i = item();
  if (i >= push.inputs * push.vectors) return;
  const int own = ordered_input(i / push.vectors);
  const int vector = i % push.vectors;
  const int end = wires[push.first_reader + own + 1];
  precise vec4 sum = vec4(0);
  for (int k = wires[push.first_reader + own]; k < end; ++k) {
    const int reader = wires[push.readers + k];
    const int gate = reader_gate(reader);
    const vec4 g = output_gradients[gate / push.gates_per_row * push.vectors + vector];
    sum += g * slope_of(gate, vector, reader_slot(reader));
  }
  input_gradients[own * push.vectors + vector] = sum;
}
