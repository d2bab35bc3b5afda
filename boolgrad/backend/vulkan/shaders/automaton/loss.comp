// The loss of a state in partial sums, one per workgroup. The host adds them up.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/functions.glsl"
#include "common/loss.glsl"

layout(std430, binding = 4) readonly buffer States { float states[]; };
layout(std430, binding = 6) readonly buffer Target { float target[]; };
layout(std430, binding = 16) writeonly buffer LossParts { float loss_parts[]; };
layout(std430, binding = 17) writeonly buffer HostLossParts { float host_loss_parts[]; };
layout(std430, binding = 18) writeonly buffer Finite { uint finite[]; };
layout(std430, binding = 20) readonly buffer Waiting { uint waiting[]; };

shared float sums[THREADS];

void main() {
  if (gl_GlobalInvocationID.x == 0) finite[1] = waiting[1];
  precise float sum = 0.0;
  const int stride = push.parts * THREADS;
  for (int i = group() * THREADS + thread(); i < push.cells * push.loss_channels; i += stride) {
    const int cell = i / push.loss_channels;
    const int c = i % push.loss_channels;
    // Targets above 1 are `any_value`.
    if (target[i] <= 1.0) {
      sum += loss_value(push.gamma, states[push.to + cell * CHANNELS + c], target[i]);
    }
  }
  sums[thread()] = sum;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) sums[thread()] += sums[thread() + half_way];
    barrier();
  }
  if (thread() == 0) {
    loss_parts[push.loss_at + group()] = sums[0];
    host_loss_parts[push.loss_at + group()] = sums[0];
  }
}
