// From the sums G of `candidate_sums` to the gradients of the logits of learned wires, in place:
// p (G - sum p G) / temperature. Several threads per slot. Also the workgroup's sum of squared
// gradients, and whether one is not finite.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 8) buffer Gradients { float gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 20) readonly buffer Weights { float weights[]; };

#include "common/norm_parts.glsl"
#include "network/lane_sums.glsl"

void main() {
  begin_norm();
  const int slot = lane_item();
  const int first = slot * push.candidates + lane();
  const int end = slot < push.tables ? (slot + 1) * push.candidates : first;
  precise float sum = 0.0;
  for (int k = first; k < end; k += LANES) {
    sum += weights[push.first_quad + k] * gradients[push.first_logit + k];
  }
  const float mean = over_lanes(vec4(sum)).x;
  precise float square = 0.0;
  for (int k = first; k < end; k += LANES) {
    const float g = weights[push.first_quad + k] * (gradients[push.first_logit + k] - mean) *
                    (push.factor * arguments.wire_scale);
    gradients[push.first_logit + k] = g;
    square += square_of(g);
  }
  store_norm(push.first_part + group(), square);
}
