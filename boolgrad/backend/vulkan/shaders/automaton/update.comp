// Clipping, noise and AdamW, unless something is not finite or workgroups gave up. Threads take the
// logits in turn.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/functions.glsl"
#include "common/random.glsl"

layout(std430, binding = 11) buffer Parameters { float parameters[]; };
layout(std430, binding = 13) readonly buffer Gradients { float gradients[]; };
layout(std430, binding = 14) buffer Moments {
  float moments[];
};  // first moments, then second
    // moments
layout(std430, binding = 15) readonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 16) readonly buffer LossParts { float loss_parts[]; };
layout(std430, binding = 18) writeonly buffer Finite { uint finite[]; };
layout(std430, binding = 20) readonly buffer Waiting { uint waiting[]; };
layout(std430, binding = 21) readonly buffer ConcurrentWaiting { uint concurrent_waiting[]; };

#include "common/optimiser.glsl"

shared float squares[THREADS];
shared uint has_nonfinite;

/// Every workgroup reads all parts.
void reduce_parts() {
  if (thread() == 0) has_nonfinite = 0;
  barrier();
  precise float sum = 0.0;
  bool nonfinite = false;
  for (int i = thread(); i < push.finish_groups; i += THREADS) {
    sum += parts[i].x;
    nonfinite = nonfinite || parts[i].y != 0.0;
  }
  for (int i = thread(); i < push.parts * push.loss_steps; i += THREADS) {
    nonfinite = nonfinite || !is_finite(loss_parts[i]);
  }
  if (nonfinite) atomicOr(has_nonfinite, 1u);
  squares[thread()] = sum;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) squares[thread()] += squares[thread() + half_way];
    barrier();
  }
}

void main() {
  reduce_parts();
  if (gl_GlobalInvocationID.x == 0) finite[0] = has_nonfinite == 0 ? 1 : 0;
  if (has_nonfinite != 0 || waiting[1] != 0 || concurrent_waiting[1] != 0) return;
  const float norm = sqrt(squares[0]);
  const int count = GATES * LOGITS;
  const int stride = int(gl_NumWorkGroups.x) * THREADS;
  update_parameters(int(gl_GlobalInvocationID.x), stride, count, count, norm);
}
