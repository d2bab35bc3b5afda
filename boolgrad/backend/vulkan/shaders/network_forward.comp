// A layer of soft gates: a thread for four samples of a gate.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network.glsl"
#include "polynomial.glsl"

layout(std430, binding = 3) buffer Activations { vec4 activations[]; };

void main() {
  const int i = item();
  if (i >= push.gates * push.vectors) return;
  const int gate = i / push.vectors;
  const int vector = i % push.vectors;
  vec4 x[MOST_SLOTS];
  x[1] = vec4(0);
  for (int s = 0; s < ARITY; ++s) {
    x[s] = activations[source_row(gate, s) * push.vectors + vector];
  }
  activations[(push.out_row + gate) * push.vectors + vector] = polynomial(gate, x, -1);
}
