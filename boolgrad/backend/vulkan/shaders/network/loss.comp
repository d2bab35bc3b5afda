// The loss of outputs with their own targets, in partial sums (one per workgroup), and its
// gradient. The host adds the parts up.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"
#include "common/loss.glsl"

layout(std430, binding = 3) readonly buffer Activations { float activations[]; };
layout(std430, binding = 4) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 16) readonly buffer Targets { float targets[]; };

#include "network/batch.glsl"
#include "network/loss_parts.glsl"

void main() {
  const int row = push.vectors * 4;
  precise float sum = 0.0;
  for (int i = item(); i < push.gates * row; i += int(gl_NumWorkGroups.x) * THREADS) {
    const int number = i % row;
    float slope = 0.0;
    if (number < push.samples) {
      const float y = activations[push.out_row * row + i];
      const float target = targets[i / row * arguments.cases + batch[number].index];
      sum += loss_value(arguments.gamma, y, target);
      slope = loss_slope(arguments.gamma, y, target);
    }
    gradients[i] = slope;
  }
  store_part(sum);
}
