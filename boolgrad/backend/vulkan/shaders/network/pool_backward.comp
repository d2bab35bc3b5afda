// Gradients of the inputs of pooling: inputs that tie for the maximum of a gate share its gradient
// equally. One thread per four samples of an input.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 12) writeonly buffer InputGradients { vec4 input_gradients[]; };

#include "network/wires.glsl"

vec4 ones_where(bvec4 where) { return mix(vec4(0), vec4(1), where); }

/// The share of an input that `value` is the value of in the gradient of a gate.
vec4 share_of(int gate, int vector, vec4 value) {
  vec4 largest = value;
  for (int slot = 0; slot < ARITY; ++slot) largest = max(largest, input_of(gate, slot, vector));
  vec4 winners = vec4(0);
  for (int slot = 0; slot < ARITY; ++slot) {
    winners += ones_where(equal(input_of(gate, slot, vector), largest));
  }
  return ones_where(equal(value, largest)) / winners;
}

void main() {
  const int i = item();
  if (i >= push.inputs * push.vectors) return;
  const int own = i / push.vectors;
  const int vector = i % push.vectors;
  const vec4 value = activations[push.in_row * push.vectors + i];
  const int end = wires[push.first_reader + own + 1];
  precise vec4 sum = vec4(0);
  for (int k = wires[push.first_reader + own]; k < end; ++k) {
    const int gate = reader_gate(wires[push.readers + k]);
    const vec4 g = output_gradients[gate / push.gates_per_row * push.vectors + vector];
    sum += g * share_of(gate, vector, value);
  }
  input_gradients[i] = sum;
}
