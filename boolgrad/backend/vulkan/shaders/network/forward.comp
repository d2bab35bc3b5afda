// A layer of soft gates: one thread per four samples of a gate.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) buffer Activations { vec4 activations[]; };

#include "network/polynomial.glsl"

const int NO_SLOT = -1;

void main() {
  const int i = item();
  if (i >= push.gates * push.vectors) return;
  const int gate = ordered_gate(i / push.vectors);
  const int vector = i % push.vectors;
  activations[(push.out_row + gate) * push.vectors + vector] =
      polynomial(gate, inputs_of(gate, vector), NO_SLOT);
}
