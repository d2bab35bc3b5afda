// From sums to gradients of the logits: sixteen threads per gate, eight gates per workgroup. Also
// the workgroup's sum of squared gradients, whether one is not finite, and the penalty of its
// gates.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/exact_sums.glsl"
#include "common/functions.glsl"
#include "common/random.glsl"

layout(std430, binding = 9) readonly buffer Sums { vec4 sums[]; };
layout(std430, binding = 11) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 12) readonly buffer Masks { float masks[]; };  // then the frozen flags
layout(std430, binding = 13) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 15) writeonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 17) writeonly buffer HostLossParts { float host_loss_parts[]; };

#include "common/gates.glsl"
#include "common/hardening.glsl"
#include "common/shared_tables.glsl"

const int LANES = TABLE_LANES;
const int GATES_PER_GROUP = 8;

shared Sum lane_sums[LANES * GATES_PER_GROUP];
shared float penalties[GATES_PER_GROUP];

#include "common/norm_parts.glsl"

/// For perception, the sum over columns, in a fixed order.
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
  lane_sums[lane * GATES_PER_GROUP + within] = sum;
  barrier();
  for (int half_way = LANES / 2; half_way > 0; half_way /= 2) {
    if (lane < half_way) {
      add(sum, lane_sums[(lane + half_way) * GATES_PER_GROUP + within]);
      lane_sums[lane * GATES_PER_GROUP + within] = sum;
    }
    barrier();
  }
  return lane_sums[within].sum + lane_sums[within].rest;
}

/// Factor from the gradients of a gate's table to those of its logits.
float factor_of(int gate) {
  const float frozen = HARDENING == HARDENING_FREEZE ? masks[GATES + gate] : 0.0;
  return masks[gate] * hardened_slope(frozen);
}

/// How much a table depends on each input: the mean square of its changes.
vec2 changes_of(vec4 t) {
  const vec4 with_a_and_b = vec4(t.y - t.x, t.w - t.z, t.z - t.x, t.w - t.y);
  const vec4 squared = with_a_and_b * with_a_and_b;
  return 0.5 * (squared.xz + squared.yw);
}

/// The gradient of the product of both.
vec4 slopes_of_changes(vec4 t) {
  const vec2 changes = changes_of(t);
  const vec4 with_a = vec4(t.x - t.y, t.y - t.x, t.z - t.w, t.w - t.z);
  const vec4 with_b = vec4(t.x - t.z, t.y - t.w, t.z - t.x, t.w - t.y);
  return changes.y * with_a + changes.x * with_b;
}

float gradient_of_step(uint origin, int lane, vec4 g, Table of_gate) {
  const int gate = int(origin & ~SWAPPED_INPUTS);
  if ((origin & SWAPPED_INPUTS) != 0) g = g.xzyw;
  const vec4 slopes = factor_of(gate) * vec4(g.x - g.y - g.z + g.w, g.y - g.w, g.z - g.w, g.w);
  return logit_gradient(gate, lane, of_gate, slopes, true);
}

/// For the model's own table, regardless of hardening.
float gradient_of_penalty(int gate, int lane, int within, bool is_there, Table own) {
  const vec4 masked = own.soft * masks[gate];
  const vec2 changes = changes_of(masked);
  if (lane == 0) {
    penalties[within] = is_there ? arguments.gate_penalty * changes.x * changes.y : 0.0;
  }
  if (lane >= LOGITS) return 0.0;
  const vec4 slopes = arguments.gate_penalty * masks[gate] * slopes_of_changes(masked);
  return logit_gradient(gate, lane, own, slopes, false);
}

/// The sum over the workgroup, after a barrier. Stored after the partial losses.
void store_penalty() {
  precise float sum = 0.0;
  for (int i = 0; i < GATES_PER_GROUP; ++i) sum += penalties[i];
  host_loss_parts[push.parts * push.loss_steps + group()] = sum;
  if (!is_finite(sum)) atomicOr(has_nonfinite, 1u);
}

void main() {
  // Neighbouring threads have neighbouring gates, whose sums are adjacent.
  const int within = thread() % GATES_PER_GROUP;
  const int lane = thread() / GATES_PER_GROUP;
  const int position = group() * GATES_PER_GROUP + within;
  const bool is_there = position < GATES;
  begin_norm();
  const vec4 g = sum_of(position, lane, within);
  const uint origin = table[min(position, GATES - 1)];
  const int gate = int(origin & ~SWAPPED_INPUTS);
  const Table of_step = shared_table(gate, within * LANES, lane, true);
  float gradient = 0.0;
  if (is_there && lane < LOGITS) gradient = gradient_of_step(origin, lane, g, of_step);
  if (PENALISES != 0) {
    Table own = of_step;
    if (CHANGES_LOGITS) {
      barrier();
      own = shared_table(gate, within * LANES, lane, false);
    }
    gradient += gradient_of_penalty(gate, lane, within, is_there, own);
    barrier();
    if (thread() == 0) store_penalty();
  }
  float square = 0.0;
  if (is_there && lane < LOGITS) {
    gradients[gate * LOGITS + lane] = gradient;
    square = square_of(gradient);
  }
  store_norm(group(), square);
}
