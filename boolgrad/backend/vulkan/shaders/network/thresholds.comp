// Gradients of the offsets of trained thresholds, with bits replaced by sigmoids: one workgroup per
// input. Also the square of each, and whether it is not finite.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"

layout(std430, binding = 8) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 12) readonly buffer InputGradients { float input_gradients[]; };

#include "common/norm_parts.glsl"
#include "network/features.glsl"

shared float sums[THREADS];

float logistic(float z) { return 1.0 / (1.0 + exact_exp(-z)); }

/// The absolute value of d bit / d threshold.
float slope_of(int feature, float threshold, float width, int number) {
  const float z = (transformed_feature(feature, number) - threshold) / width;
  return logistic(z) * logistic(-z) / width;
}

void main() {
  begin_norm();
  const int own = group();
  const float range = intBitsToFloat(inputs[own].w);
  const float threshold = threshold_of(own);
  precise float sum = 0.0;
  for (int number = thread(); number < push.samples; number += THREADS) {
    const float g = input_gradients[own * push.vectors * 4 + number];
    sum += g * slope_of(inputs[own].x, threshold, arguments.width_share * range, number);
  }
  sums[thread()] = sum;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) sums[thread()] += sums[thread() + half_way];
    barrier();
  }
  float square = 0.0;
  if (thread() == 0) {
    const float gradient = -sums[0] * range * mask_of(own) * push.factor;
    gradients[arguments.first_threshold + own] = gradient;
    square = square_of(gradient);
  }
  store_norm(push.first_part + own, square);
}
