// The outputs of trees of gates, pooled: one thread per four samples of an output.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) buffer Activations { vec4 activations[]; };

#include "network/trees.glsl"

void main() {
  const int i = item();
  if (i >= push.gates * push.vectors) return;
  const int number = i / push.vectors;
  const int vector = i % push.vectors;
  const int kernel = kernel_at(number);
  vec4 node[MAX_NODES];
  vec4 largest;
  [[dont_unroll]] for (int root = 0; root < ARITY; ++root) {
    const vec4 value = evaluate(kernel, leaf_row(number, root), vector, node);
    largest = root == 0 ? value : max(largest, value);
  }
  activations[(push.out_row + output_at(number)) * push.vectors + vector] = largest;
}
