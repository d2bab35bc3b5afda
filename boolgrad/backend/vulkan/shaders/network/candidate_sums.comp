// Sums over samples of the gradient of a slot times each of its candidates, in the place of the
// gradients of their logits: several threads per four candidates of a slot with logits of its own.
// If slots share logits, the samples of all of them are summed, slot by slot.
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
  if (SHARES_TABLES != 0 && source < 0) return vec4(0);
  return activations[(push.in_row + source) * push.vectors + vector];
}

/// Some candidates of a slot; the last one for those from `end` on.
ivec4 sources_of(int slot, int first, int end) {
  ivec4 sources;
  [[unroll]] for (int i = 0; i < AT_ONCE; ++i) {
    sources[i] = source_of(slot, min(first + i, end - 1));
  }
  return sources;
}

/// The slot at a position, of those that share the logits of `own`.
int slot_at(int own, int position) {
  return (own / ARITY * push.positions + position) * ARITY + own % ARITY;
}

void main() {
  const int blocks = (push.candidates + AT_ONCE - 1) / AT_ONCE;
  const int own = lane_item() / blocks;
  const int first = lane_item() % blocks * AT_ONCE;
  const int end = own < push.tables ? push.candidates : 0;
  const int vectors = SHARES_TABLES == 0 ? push.vectors : push.positions * push.vectors;
  ivec4 sources = ivec4(0);
  if (SHARES_TABLES == 0 && first < end) sources = sources_of(own, first, end);
  precise vec4 sum = vec4(0);
  for (int i = lane(); i < vectors && first < end; i += LANES) {
    int slot = own;
    int vector = i;
    if (SHARES_TABLES != 0) {
      slot = slot_at(own, i / push.vectors);
      vector = i % push.vectors;
      sources = sources_of(slot, first, end);
    }
    const vec4 g = output_gradients[slot * push.vectors + vector];
    sum += vec4(dot(g, input_of(sources.x, vector)), dot(g, input_of(sources.y, vector)),
                dot(g, input_of(sources.z, vector)), dot(g, input_of(sources.w, vector)));
  }
  sum = over_lanes(sum);
  if (lane() != 0) return;
  [[unroll]] for (int i = 0; i < AT_ONCE; ++i) {
    if (first + i < end) {
      gradients[push.first_logit + own * push.candidates + first + i] = sum[i];
    }
  }
}
