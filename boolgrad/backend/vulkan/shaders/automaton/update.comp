// AdamW with what is done to gradients before, unless something is not finite or groups gave up:
// threads take the logits in turn.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/functions.glsl"
#include "common/random.glsl"

layout(std430, binding = 11) buffer Parameters { float parameters[]; };
layout(std430, binding = 13) readonly buffer Gradients { float gradients[]; };
layout(std430, binding = 14) buffer Moments { float moments[]; };  // first, then second ones
layout(std430, binding = 15) readonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 16) readonly buffer LossParts { float loss_parts[]; };
layout(std430, binding = 18) writeonly buffer Finite { uint finite[]; };
layout(std430, binding = 20) readonly buffer Waiting { uint waiting[]; };
layout(std430, binding = 21) readonly buffer WaitingBeside { uint waiting_beside[]; };

#include "common/optimiser.glsl"

shared float squares[THREADS];
shared uint is_broken;

/// Every group looks at all parts itself.
void look_at_parts() {
  if (thread() == 0) is_broken = 0;
  barrier();
  precise float sum = 0.0;
  bool broken = false;
  for (int i = thread(); i < push.finish_groups; i += THREADS) {
    sum += parts[i].x;
    broken = broken || parts[i].y != 0.0;
  }
  for (int i = thread(); i < push.parts * push.loss_steps; i += THREADS) {
    broken = broken || !is_finite(loss_parts[i]);
  }
  if (broken) atomicOr(is_broken, 1u);
  squares[thread()] = sum;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) squares[thread()] += squares[thread() + half_way];
    barrier();
  }
}

void main() {
  look_at_parts();
  if (gl_GlobalInvocationID.x == 0) finite[0] = is_broken == 0 ? 1 : 0;
  if (is_broken != 0 || waiting[1] != 0 || waiting_beside[1] != 0) return;
  const float norm = sqrt(squares[0]);
  const int count = GATES * LOGITS;
  const int stride = int(gl_NumWorkGroups.x) * THREADS;
  update_parameters(int(gl_GlobalInvocationID.x), stride, count, count, norm);
}
