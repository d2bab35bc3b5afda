// AdamW, unless something is not finite. Threads take the parameters in turn.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"
#include "common/random.glsl"

layout(std430, binding = 6) buffer Parameters { float parameters[]; };
layout(std430, binding = 8) readonly buffer Gradients { float gradients[]; };
layout(std430, binding = 9) buffer Moments {
  float moments[];
};  // first moments, then second
    // moments
layout(std430, binding = 10) readonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 11) writeonly buffer Results { float results[]; };

#include "common/optimiser.glsl"

shared float squares[THREADS];
shared uint has_nonfinite;

/// Every workgroup reads all parts.
void reduce_parts() {
  if (thread() == 0) has_nonfinite = 0;
  barrier();
  precise float sum = 0.0;
  bool nonfinite = false;
  for (int i = thread(); i < push.parts; i += THREADS) {
    sum += parts[i].x;
    nonfinite = nonfinite || parts[i].y != 0.0;
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
  if (gl_GlobalInvocationID.x == 0) results[0] = has_nonfinite == 0 ? 1.0 : 0.0;
  if (has_nonfinite != 0) return;
  const float norm = sqrt(squares[0]);
  const int stride = int(gl_NumWorkGroups.x) * THREADS;
  update_parameters(int(gl_GlobalInvocationID.x), stride, arguments.parameters,
                    arguments.second_moments, norm);
}
