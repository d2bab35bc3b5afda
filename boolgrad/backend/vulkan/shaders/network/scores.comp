// Weighted sums of outputs by group, in parts: one thread per four samples of a part.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "network/network.glsl"

#include "network/group_part.glsl"
#include "network/output_weights.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 18) writeonly buffer Scores { vec4 scores[]; };

const int AT_ONCE = 8;  // loads in flight per thread

void main() {
  const int i = item();
  if (i >= push.groups * push.group_parts * push.vectors) return;
  const int vector = i % push.vectors;
  const GroupPart part = group_part(i / push.vectors);
  precise vec4 sum = vec4(0);
  for (int first = part.first; first < part.end; first += AT_ONCE) {
    vec4 some[AT_ONCE];
    [[unroll]] for (int k = 0; k < AT_ONCE; ++k) {
      const int gate = min(first + k, part.end - 1);
      some[k] = activations[(push.out_row + gate) * push.vectors + vector];
    }
    [[unroll]] for (int k = 0; k < AT_ONCE; ++k) {
      if (first + k >= part.end) continue;
      sum += WEIGHS_OUTPUTS == 0 ? some[k] : some[k] * output_weights[first + k];
    }
  }
  scores[i] = sum;
}
