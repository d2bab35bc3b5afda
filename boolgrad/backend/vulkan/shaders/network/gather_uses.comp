// Gradients of the inputs of learned wires, gathered from the slots of which an input is a
// candidate: one thread per four samples of an input.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "network/slots.glsl"

layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 12) writeonly buffer InputGradients { vec4 input_gradients[]; };
layout(std430, binding = 19) readonly buffer Chosen { int chosen[]; };
layout(std430, binding = 20) readonly buffer Weights { float weights[]; };

void main() {
  const int i = item();
  if (i >= push.inputs * push.vectors) return;
  const int own = i / push.vectors;
  const bool has_all = has_all_candidates();
  const int begin = has_all ? 0 : wires[push.first_reader + own];
  const int end = has_all ? push.gates : wires[push.first_reader + own + 1];
  precise vec4 sum = vec4(0);
  for (int use = begin; use < end; ++use) {
    const int candidate = has_all ? use * push.candidates + own : wires[push.readers + use];
    const int slot = has_all ? use : candidate / push.candidates;
    const int k = candidate - slot * push.candidates;
    if (MIXES_WIRES == 0 && chosen[push.first_table + logit_slot(slot)] != k) continue;
    const vec4 g = output_gradients[slot * push.vectors + i % push.vectors];
    const int weight = push.first_quad + logit_slot(slot) * push.candidates + k;
    sum += MIXES_WIRES == 0 ? g : weights[weight] * g;
  }
  input_gradients[i] = sum;
}
