// The probabilities of the candidates of learned wires, and the most probable one, the first on a
// tie: several threads per
// slot with logits of its own.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"

layout(std430, binding = 6) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 19) writeonly buffer Chosen { int chosen[]; };
layout(std430, binding = 20) writeonly buffer Weights { float weights[]; };

#include "network/lane_sums.glsl"

shared float lane_best[THREADS];
shared int lane_choice[THREADS];

/// Afterwards the first lane of a slot has its largest logit.
void find_best(int first, int end) {
  float best = uintBitsToFloat(0xff800000u);  // -infinity
  int choice = first + lane();
  for (int k = choice; k < end; k += LANES) {
    if (parameters[push.first_logit + k] > best) {
      best = parameters[push.first_logit + k];
      choice = k;
    }
  }
  lane_best[thread()] = best;
  lane_choice[thread()] = choice;
  barrier();
  for (int half_way = LANES / 2; half_way > 0; half_way /= 2) {
    if (lane() < half_way) {
      const int other = thread() + half_way;
      if (lane_best[other] > best || (lane_best[other] == best && lane_choice[other] < choice)) {
        lane_best[thread()] = best = lane_best[other];
        lane_choice[thread()] = choice = lane_choice[other];
      }
    }
    barrier();
  }
}

float relative_to(float largest, int candidate) {
  return exact_exp((parameters[push.first_logit + candidate] - largest) * arguments.wire_scale);
}

void main() {
  const int slot = lane_item();
  const int first = slot * push.candidates;
  const int end = slot < push.tables ? first + push.candidates : first;
  find_best(first, end);
  const float largest = lane_best[thread() - lane()];
  precise float sum = 0.0;
  for (int k = first + lane(); k < end; k += LANES) sum += relative_to(largest, k);
  const float total = over_lanes(vec4(sum)).x;
  for (int k = first + lane(); k < end; k += LANES) {
    weights[push.first_quad + k] = relative_to(largest, k) / total;
  }
  if (lane() == 0 && slot < push.tables) {
    chosen[push.first_table + slot] = lane_choice[thread()] - first;
  }
}
