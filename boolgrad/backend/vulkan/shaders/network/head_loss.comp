// The loss of a head and its gradient, as in `head_loss` of `logic/head.h`: one thread per sample.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"

layout(std430, binding = 4) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };
// Labels or values, then soft targets [cases, classes] if there is a teacher.
layout(std430, binding = 16) readonly buffer Targets { uint targets[]; };
layout(std430, binding = 18) readonly buffer Scores { float scores[]; };

#include "network/batch.glsl"
#include "network/loss_parts.glsl"
#include "network/scores.glsl"

// Must match `HeadKind`.
const int CLASSES = 0, BINARY = 1, REGRESSION = 2;

int class_count() { return HEAD_KIND == BINARY ? 2 : push.groups; }

/// The logit of a class. A binary head has a single score for class 1; class 0 has its negative.
float class_score(int c, int number) {
  if (HEAD_KIND != BINARY) return scores[score_at(c, number)];
  const float score = scores[score_at(0, number)];
  return c == 0 ? -score : score;
}

/// The score of the label minus the mean score.
float above_mean(int label, int number) {
  precise float total = 0.0;
  for (int c = 0; c < class_count(); ++c) total += class_score(c, number);
  return class_score(label, number) - total / float(class_count());
}

float soft_target(int c, int number) {
  return uintBitsToFloat(targets[push.cases + batch[number].index * push.groups + c]);
}

/// The cross-entropy against soft targets q: log(sum) plus the sum of q (largest - score).
float teacher_loss(int number, float largest, float sum) {
  precise float total = 0.0;
  for (int c = 0; c < class_count(); ++c) {
    total += soft_target(c, number) * (largest - class_score(c, number));
  }
  return total + exact_log(sum);
}

float cross_entropy(int label, int number, float largest, float sum) {
  if (is_nan(sum)) return sum;
  float loss = largest - class_score(label, number) + exact_log(sum);
  if (arguments.smoothing > 0.0) loss += arguments.smoothing * above_mean(label, number);
  if (arguments.teacher_weight > 0.0) {
    loss = mix(loss, teacher_loss(number, largest, sum), arguments.teacher_weight);
  }
  return loss * arguments.mean;
}

/// The gradient of a class's score.
float class_gradient(int c, int label, int number, float largest, float sum) {
  const float share = exact_exp(class_score(c, number) - largest) / sum;
  const float wanted = c == label ? 1.0 - arguments.smoothing : 0.0;
  const float slope = share - arguments.smoothing / float(class_count()) - wanted;
  if (!(arguments.teacher_weight > 0.0)) return slope;
  return mix(slope, share - soft_target(c, number), arguments.teacher_weight);
}

void store_gradient(int g, int number, float gradient) {
  gradients[g * push.vectors * 4 + number] = gradient;
}

float loss_of_classes(int number) {
  const int label = int(targets[batch[number].index]);
  float largest = class_score(0, number);
  for (int c = 1; c < class_count(); ++c) largest = max(largest, class_score(c, number));
  precise float sum = 0.0;
  for (int c = 0; c < class_count(); ++c) sum += exact_exp(class_score(c, number) - largest);
  const float factor = arguments.score_scale * arguments.mean;
  if (HEAD_KIND == BINARY) {
    store_gradient(0, number,
                   factor * (class_gradient(1, label, number, largest, sum) -
                             class_gradient(0, label, number, largest, sum)));
  } else {
    for (int c = 0; c < class_count(); ++c) {
      store_gradient(c, number, factor * class_gradient(c, label, number, largest, sum));
    }
  }
  return cross_entropy(label, number, largest, sum);
}

float loss_of_value(int number) {
  const float value = uintBitsToFloat(targets[batch[number].index]);
  const float off = scores[score_at(0, number)] - (value - arguments.low) * arguments.target_scale;
  store_gradient(0, number, 2.0 * off * arguments.mean * arguments.score_scale);
  return off * off * arguments.mean;
}

void main() {
  const int number = item();
  float loss = 0.0;
  if (number < push.samples) {
    loss = HEAD_KIND == REGRESSION ? loss_of_value(number) : loss_of_classes(number);
  } else if (number < push.vectors * 4) {
    for (int g = 0; g < push.groups; ++g) store_gradient(g, number, 0.0);
  }
  store_part(loss);
}
