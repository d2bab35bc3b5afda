// Outputs summed by class, in parts: a thread for four samples of a part.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network.glsl"

#include "class_part.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 19) writeonly buffer Scores { vec4 scores[]; };

void main() {
  const int i = item();
  if (i >= push.classes * push.class_parts * push.vectors) return;
  const int vector = i % push.vectors;
  const ClassPart part = class_part(i / push.vectors);
  precise vec4 sum = vec4(0);
  for (int gate = part.first; gate < part.end; ++gate) {
    sum += activations[(push.out_row + gate) * push.vectors + vector];
  }
  scores[i] = sum;
}
