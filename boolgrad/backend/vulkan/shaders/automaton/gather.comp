// Reduces the sums of all workgroups in a fixed order: eight threads per sum, neighbours adjacent
// in memory. The result replaces the first workgroup's sums; the rounding errors follow the last
// workgroup's.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "automaton/automaton.glsl"
#include "common/exact_sums.glsl"

layout(std430, binding = 9) buffer Sums { vec4 sums[]; };  // [slots + 1][SUMS]

const int LANES = 8;
const int SUMS_PER_GROUP = 16;
const int AT_ONCE = 8;  // loads in flight per thread

shared Sum lane_sums[LANES * SUMS_PER_GROUP];

Sum sum_of_lane(int at, int lane) {
  Sum sum = empty_sum();
  for (int first = lane; first < push.slots; first += LANES * AT_ONCE) {
    vec4 some[AT_ONCE];
    [[unroll]] for (int i = 0; i < AT_ONCE; ++i) {
      const int slot = first + i * LANES;
      some[i] = slot < push.slots ? sums[slot * SUMS + at] : vec4(0);
    }
    [[unroll]] for (int i = 0; i < AT_ONCE; ++i) add(sum, some[i]);
  }
  return sum;
}

void main() {
  const int within = thread() % SUMS_PER_GROUP;
  const int lane = thread() / SUMS_PER_GROUP;
  const int at = group() * SUMS_PER_GROUP + within;
  Sum sum = empty_sum();
  if (at < SUMS) sum = sum_of_lane(at, lane);
  lane_sums[thread()] = sum;
  barrier();
  for (int half_way = LANES / 2; half_way > 0; half_way /= 2) {
    if (lane < half_way) {
      add(sum, lane_sums[thread() + half_way * SUMS_PER_GROUP]);
      lane_sums[thread()] = sum;
    }
    barrier();
  }
  if (lane != 0 || at >= SUMS) return;
  sums[at] = sum.sum;
  sums[push.slots * SUMS + at] = sum.rest;
}
