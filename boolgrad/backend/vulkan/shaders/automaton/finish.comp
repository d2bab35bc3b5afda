// From sums to gradients of the logits: sixteen threads a gate, eight gates a group. Also the sum
// over the group's gradients of their squares, and whether one is not finite.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/exact_sums.glsl"
#include "common/functions.glsl"

layout(std430, binding = 9) readonly buffer Sums { vec4 sums[]; };
layout(std430, binding = 11) readonly buffer Logits { float logits[]; };
layout(std430, binding = 12) readonly buffer Masks { float masks[]; };
layout(std430, binding = 13) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 15) writeonly buffer Parts { vec2 parts[]; };

#include "common/gates.glsl"
#include "common/shared_tables.glsl"

const int LANES = TABLE_LANES;
const int GATES_A_GROUP = 8;

shared Sum lane_sums[LANES * GATES_A_GROUP];
shared float squares[LANES * GATES_A_GROUP];
shared uint is_broken;

/// Of perception, the sum over columns, in a fixed tree.
vec4 sum_of(int position, int lane, int within) {
  const bool perceives = position < PERCEIVE_GATES;
  const int many = perceives ? SUM_COLUMNS : 1;
  const int first = perceives ? position * SUM_COLUMNS : UPDATE_SUMS + position;
  Sum sum = empty_sum();
  if (position < GATES) {
    for (int i = first + lane; i < first + many; i += LANES) {
      add(sum, Sum(sums[i], sums[push.slots * SUMS + i]));
    }
  }
  lane_sums[lane * GATES_A_GROUP + within] = sum;
  barrier();
  for (int half_way = LANES / 2; half_way > 0; half_way /= 2) {
    if (lane < half_way) {
      add(sum, lane_sums[(lane + half_way) * GATES_A_GROUP + within]);
      lane_sums[lane * GATES_A_GROUP + within] = sum;
    }
    barrier();
  }
  return lane_sums[within].sum + lane_sums[within].rest;
}

float gradient_of(uint origin, int lane, vec4 g, Table of_gate) {
  const int gate = int(origin & ~SWAPPED_INPUTS);
  if ((origin & SWAPPED_INPUTS) != 0) g = g.xzyw;
  const vec4 slopes = masks[gate] * vec4(g.x - g.y - g.z + g.w, g.y - g.w, g.z - g.w, g.w);
  const float gradient = logit_gradient(logits[gate * LOGITS + lane], of_gate, slopes, lane);
  gradients[gate * LOGITS + lane] = gradient;
  return gradient;
}

void main() {
  // Neighbours have neighbouring gates, whose sums lie side by side.
  const int within = thread() % GATES_A_GROUP;
  const int lane = thread() / GATES_A_GROUP;
  const int position = group() * GATES_A_GROUP + within;
  if (thread() == 0) is_broken = 0;
  const vec4 g = sum_of(position, lane, within);
  const uint origin = table[min(position, GATES - 1)];
  const Table of_gate = shared_table(int(origin & ~SWAPPED_INPUTS), within * LANES, lane);
  float square = 0.0;
  if (position < GATES && lane < LOGITS) {
    float gradient = gradient_of(origin, lane, g, of_gate);
    if (!is_finite(gradient)) atomicOr(is_broken, 1u);
    if (numbers.clip_value > 0.0) {
      gradient = clamp(gradient, -numbers.clip_value, numbers.clip_value);
    }
    square = gradient * gradient;
  }
  squares[thread()] = square;
  barrier();
  for (int half_way = LANES * GATES_A_GROUP / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) squares[thread()] += squares[thread() + half_way];
    barrier();
  }
  if (thread() == 0) parts[group()] = vec2(squares[0], float(is_broken));
}
