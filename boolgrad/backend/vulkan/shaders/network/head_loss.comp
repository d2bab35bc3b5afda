// The loss of a head and its gradient, as in `head_loss` of `logic/head.h`: one thread per sample.
// Also the mean of a workgroup's sums, and the sum of their squared distances from it.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"

layout(std430, binding = 4) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };
// Labels or values, then soft targets [cases, classes] if there is a teacher.
layout(std430, binding = 16) readonly buffer Targets { uint targets[]; };
layout(std430, binding = 18) buffer Scores { float scores[]; };

#include "network/batch.glsl"
#include "network/loss_parts.glsl"
#include "network/output_weights.glsl"
#include "network/scores.glsl"

#include "network/head.glsl"

int class_count() { return HAS_VOTES ? 2 : push.groups; }

float score(int g, int number) { return score_of(g, scores[sum_at(g, number)]); }

/// The logit of a class. A vote has a single score for class 1; class 0 has its negative. Without
/// votes, `vote` is not used.
float class_score(int vote, int c, int number) {
  if (!HAS_VOTES) return score(c, number);
  const float of_one = score(vote, number);
  return c == 0 ? -of_one : of_one;
}

/// The score of the label minus the mean score.
float above_mean(int vote, int label, int number) {
  precise float total = 0.0;
  for (int c = 0; c < class_count(); ++c) total += class_score(vote, c, number);
  return class_score(vote, label, number) - total / float(class_count());
}

float soft_target(int c, int number) {
  return uintBitsToFloat(targets[arguments.cases + batch[number].index * push.groups + c]);
}

/// The cross-entropy against soft targets q: log(sum) plus the sum of q (largest - score).
float teacher_loss(int number, float largest, float sum) {
  precise float total = 0.0;
  for (int c = 0; c < class_count(); ++c) {
    total += soft_target(c, number) * (largest - class_score(0, c, number));
  }
  return total + exact_log(sum);
}

float cross_entropy(int vote, int label, int number, float largest, float sum) {
  if (is_nan(sum)) return sum;
  float loss = largest - class_score(vote, label, number) + exact_log(sum);
  if (arguments.smoothing > 0.0) loss += arguments.smoothing * above_mean(vote, label, number);
  if (arguments.teacher_weight > 0.0) {
    loss = mix(loss, teacher_loss(number, largest, sum), arguments.teacher_weight);
  }
  return loss * arguments.mean;
}

/// The gradient of a class's score.
float class_gradient(int vote, int c, int label, int number, float largest, float sum) {
  const float share = exact_exp(class_score(vote, c, number) - largest) / sum;
  const float wanted = c == label ? 1.0 - arguments.smoothing : 0.0;
  const float slope = share - arguments.smoothing / float(class_count()) - wanted;
  if (!(arguments.teacher_weight > 0.0)) return slope;
  return mix(slope, share - soft_target(c, number), arguments.teacher_weight);
}

/// The gradient of a sum.
void store_gradient(int g, int number, float gradient) {
  if (WEIGHS_OUTPUTS == 0) gradients[g * push.vectors * 4 + number] = gradient;
  else scores[gradient_at(g, number)] = gradient;
}

float loss_of_classes(int vote, int label, int number) {
  float largest = class_score(vote, 0, number);
  for (int c = 1; c < class_count(); ++c) largest = max(largest, class_score(vote, c, number));
  precise float sum = 0.0;
  for (int c = 0; c < class_count(); ++c) {
    sum += exact_exp(class_score(vote, c, number) - largest);
  }
  if (HAS_VOTES) {
    store_gradient(vote, number,
                   slope_of_score(vote) * arguments.mean *
                       (class_gradient(vote, 1, label, number, largest, sum) -
                        class_gradient(vote, 0, label, number, largest, sum)));
  } else {
    for (int c = 0; c < class_count(); ++c) {
      store_gradient(c, number,
                     slope_of_score(c) * arguments.mean *
                         class_gradient(vote, c, label, number, largest, sum));
    }
  }
  return cross_entropy(vote, label, number, largest, sum);
}

float loss_of_value(int number) {
  const float value = uintBitsToFloat(targets[batch[number].index]);
  const float off = score(0, number) - (value - arguments.low) * arguments.target_scale;
  store_gradient(0, number, 2.0 * off * arguments.mean * slope_of_score(0));
  return off * off * arguments.mean;
}

float loss_of(int number) {
  if (HEAD_KIND == REGRESSION) return loss_of_value(number);
  const int label = int(targets[batch[number].index]);
  if (!HAS_VOTES) return loss_of_classes(0, label, number);
  precise float loss = 0.0;
  for (int g = 0; g < push.groups; ++g) loss += loss_of_classes(g, label >> g & 1, number);
  return loss;
}

/// After the losses of all workgroups, their means; then their squares.
void store_spread(int number) {
  const int samples = min(THREADS, push.samples - group() * THREADS);
  const int loss_parts = (push.vectors * 4 + THREADS - 1) / THREADS;
  const bool is_there = number < push.samples;
  precise float sum = 0.0;
  for (int g = 0; g < push.groups && is_there; ++g) sum += scores[sum_at(g, number)];
  const float mean = over_threads(sum) / float(samples * push.groups);
  precise float square = 0.0;
  for (int g = 0; g < push.groups && is_there; ++g) {
    const float off = scores[sum_at(g, number)] - mean;
    square += off * off;
  }
  const float squares = over_threads(square);
  if (thread() != 0) return;
  results[1 + loss_parts + group()] = mean;
  results[1 + 2 * loss_parts + group()] = squares;
}

void main() {
  const int number = item();
  float loss = 0.0;
  if (number < push.samples) {
    loss = loss_of(number);
  } else if (number < push.vectors * 4) {
    for (int g = 0; g < push.groups; ++g) store_gradient(g, number, 0.0);
  }
  store_part(loss);
  store_spread(number);
}
