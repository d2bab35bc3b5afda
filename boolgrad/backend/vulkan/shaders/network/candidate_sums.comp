// Sums over samples of the gradient of a slot times each of its candidates, in the place of the
// gradients of their logits: several threads per four candidates of a slot.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "network/network.glsl"

#include "network/lane_sums.glsl"
#include "network/slots.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 8) writeonly buffer Gradients { float gradients[]; };

const int AT_ONCE = 4;

vec4 input_of(int source, int vector) {
  return activations[(push.in_row + source) * push.vectors + vector];
}

void main() {
  const int blocks = (push.candidates + AT_ONCE - 1) / AT_ONCE;
  const int slot = lane_item() / blocks;
  const int first = lane_item() % blocks * AT_ONCE;
  const int end = slot < push.gates ? push.candidates : 0;
  ivec4 sources = ivec4(0);
  if (first < end) {
    [[unroll]] for (int i = 0; i < AT_ONCE; ++i) {
      sources[i] = source_of(slot, min(first + i, end - 1));
    }
  }
  precise vec4 sum = vec4(0);
  for (int vector = lane(); vector < push.vectors && first < end; vector += LANES) {
    const vec4 g = output_gradients[slot * push.vectors + vector];
    sum += vec4(dot(g, input_of(sources.x, vector)), dot(g, input_of(sources.y, vector)),
                dot(g, input_of(sources.z, vector)), dot(g, input_of(sources.w, vector)));
  }
  sum = over_lanes(sum);
  if (lane() != 0) return;
  [[unroll]] for (int i = 0; i < AT_ONCE; ++i) {
    if (first + i < end) {
      gradients[push.first_logit + slot * push.candidates + first + i] = sum[i];
    }
  }
}
