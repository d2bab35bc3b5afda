// The sums of all groups from their partial sums: one thread per group and sample.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "network/network.glsl"

layout(std430, binding = 18) buffer Scores { float scores[]; };

#include "network/scores.glsl"

const int AT_ONCE = 8;  // loads in flight per thread

void main() {
  const int row = push.vectors * 4;
  const int g = item() / row;
  const int number = item() % row;
  if (g >= push.groups) return;
  precise float sum = 0.0;
  for (int first = 0; first < push.group_parts; first += AT_ONCE) {
    float some[AT_ONCE];
    [[unroll]] for (int i = 0; i < AT_ONCE; ++i) {
      some[i] = first + i < push.group_parts ? scores[part_at(g, first + i, number)] : 0.0;
    }
    [[unroll]] for (int i = 0; i < AT_ONCE; ++i) sum += some[i];
  }
  scores[sum_at(push.score_set * push.groups + g, number)] = sum;
}
