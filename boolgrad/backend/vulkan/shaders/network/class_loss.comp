// The cross-entropy of class scores and its gradient: a thread a sample.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"

layout(std430, binding = 4) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 15) readonly buffer Picked { ivec4 picked[]; };
layout(std430, binding = 16) readonly buffer Labels { int labels[]; };
layout(std430, binding = 19) readonly buffer Scores { float scores[]; };

#include "network/loss_parts.glsl"
#include "network/scores.glsl"

/// By how much the score of the label exceeds the mean of all.
float above_mean(int label, int number) {
  precise float total = 0.0;
  for (int c = 0; c < push.classes; ++c) total += scores[score_at(c, number)];
  return scores[score_at(label, number)] - total / float(push.classes);
}

float loss_of(int label, int number, float largest, float sum) {
  if (is_nan(sum)) return sum;
  float loss = largest - scores[score_at(label, number)] + exact_log(sum);
  if (numbers.smoothing > 0.0) loss += numbers.smoothing * above_mean(label, number);
  return loss * numbers.mean;
}

void keep_gradients(int label, int number, float largest, float sum) {
  const float factor = numbers.score_scale * numbers.mean;
  const float rest = numbers.smoothing / float(push.classes);
  for (int c = 0; c < push.classes; ++c) {
    const float share = exact_exp(scores[score_at(c, number)] - largest) / sum;
    gradients[c * push.vectors * 4 + number] =
        factor * (share - rest - (c == label ? 1.0 - numbers.smoothing : 0.0));
  }
}

void main() {
  const int number = item();
  float loss = 0.0;
  if (number < push.samples) {
    const int label = labels[picked[number].x];
    float largest = scores[score_at(0, number)];
    for (int c = 1; c < push.classes; ++c) {
      largest = max(largest, scores[score_at(c, number)]);
    }
    precise float sum = 0.0;
    for (int c = 0; c < push.classes; ++c) {
      sum += exact_exp(scores[score_at(c, number)] - largest);
    }
    loss = loss_of(label, number, largest, sum);
    if (push.wants_gradients != 0) keep_gradients(label, number, largest, sum);
  } else if (push.wants_gradients != 0 && number < push.vectors * 4) {
    for (int c = 0; c < push.classes; ++c) {
      gradients[c * push.vectors * 4 + number] = 0.0;
    }
  }
  keep_part(loss);
}
