// How wrong soft outputs and those of the hardened circuit are: a thread a sample.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "network/hard_bit.glsl"

layout(std430, binding = 3) readonly buffer Activations { float activations[]; };
layout(std430, binding = 15) readonly buffer Picked { ivec4 picked[]; };
layout(std430, binding = 16) readonly buffer Targets { uint targets[]; };
// Whether the soft outputs are wrong, how many of the hardened ones, and whether any.
layout(std430, binding = 18) writeonly buffer Mistakes { uvec4 mistakes[]; };
layout(std430, binding = 19) readonly buffer Scores { float scores[]; };

#include "network/scores.glsl"

uvec4 mistakes_of_outputs(int number) {
  uint soft_wrong = 0;
  uint hard_wrong = 0;
  for (int o = 0; o < push.gates; ++o) {
    const float target = uintBitsToFloat(targets[o * push.cases + picked[number].x]);
    const uint wanted = target > 0.5 ? 1u : 0u;
    const float soft = activations[(push.out_row + o) * push.vectors * 4 + number];
    soft_wrong |= wanted ^ (soft > 0.5 ? 1u : 0u);
    hard_wrong += wanted ^ hard_bit(o, number);
  }
  return uvec4(soft_wrong, hard_wrong, min(hard_wrong, 1u), 0);
}

/// Of equal classes the first counts. Parts of scores are ones of the hardened circuit by now.
uvec4 mistakes_of_classes(int number) {
  int soft_best = 0;
  int hard_best = 0;
  float most_ones = 0.0;
  for (int c = 0; c < push.classes; ++c) {
    if (scores[score_at(c, number)] > scores[score_at(soft_best, number)]) soft_best = c;
    float ones = 0.0;
    for (int part = 0; part < push.class_parts; ++part) ones += scores[part_at(c, part, number)];
    if (ones > most_ones) {
      most_ones = ones;
      hard_best = c;
    }
  }
  const int label = int(targets[picked[number].x]);
  const uint hard_wrong = hard_best != label ? 1u : 0u;
  return uvec4(soft_best != label ? 1u : 0u, hard_wrong, hard_wrong, 0);
}

void main() {
  const int number = item();
  if (number >= push.samples) return;
  mistakes[number] = push.classes > 0 ? mistakes_of_classes(number) : mistakes_of_outputs(number);
}
