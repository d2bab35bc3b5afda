// With weights of outputs: the gradients of outputs from those of the group sums, and the gradients
// of trained exponents. One workgroup per output. Also the square of each, and whether it is not
// finite.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) readonly buffer Activations { float activations[]; };
layout(std430, binding = 4) writeonly buffer OutputGradients { float output_gradients[]; };
layout(std430, binding = 6) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 8) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 18) readonly buffer Scores { float scores[]; };

#include "common/norm_parts.glsl"
#include "network/output_weights.glsl"
#include "network/scores.glsl"

#include "network/head.glsl"

shared float sums[THREADS];

/// What the largest sum takes from the derivative of a score with respect to a weight, which is
/// slope (output - share).
float share_of_largest(int g, int number) {
  if (HEAD_KIND == REGRESSION) return scores[sum_at(g, number)] / largest_sum(g);
  return HAS_VOTES ? 0.5 : 0.0;
}

/// From the gradient of a weight 2^e to that of the exponent: that of 2^x at the rounded exponent,
/// or 0 if the exponent would move further outside of its limits.
float exponent_gradient(int output_number, float gradient) {
  const float exponent = parameters[arguments.first_exponent + output_number];
  const bool leaves =
      (exponent <= 0.0 && gradient > 0.0) || (exponent >= arguments.max_exponent && gradient < 0.0);
  return leaves ? 0.0 : gradient * output_weights[output_number] * 0.693147181;
}

void main() {
  begin_norm();
  const int own = group();
  const int g = own / (push.gates / push.groups);
  const int row = push.vectors * 4;
  const float weight = output_weights[own];
  precise float sum = 0.0;
  for (int number = thread(); number < row; number += THREADS) {
    const float slope = scores[gradient_at(g, number)];
    output_gradients[own * row + number] = weight * slope;
    const float y = activations[(push.out_row + own) * row + number];
    sum += slope * (y - share_of_largest(g, number));
  }
  if (!(arguments.max_exponent > 0.0)) return;
  sums[thread()] = sum;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) sums[thread()] += sums[thread() + half_way];
    barrier();
  }
  float square = 0.0;
  if (thread() == 0) {
    const float gradient = exponent_gradient(own, sums[0]);
    gradients[arguments.first_exponent + own] = gradient;
    square = square_of(gradient);
  }
  store_norm(push.first_part + own, square);
}
