// Counts the weighted ones of the hardened circuit by group, in partial sums that reuse the buffer
// of the score parts: one thread per sample of a part.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "network/group_part.glsl"
#include "network/hard_bit.glsl"
#include "network/output_weights.glsl"

layout(std430, binding = 18) writeonly buffer Scores { float scores[]; };

void main() {
  const int row = push.vectors * 4;
  const int i = item();
  if (i >= push.groups * push.group_parts * row || i % row >= push.samples) return;
  const GroupPart part = group_part(i / row);
  uint ones = 0;
  for (int o = part.first; o < part.end; ++o) {
    const uint weight = WEIGHS_OUTPUTS == 0 ? 1u : uint(output_weights[o]);
    ones += hard_bit(o, i % row) * weight;
  }
  scores[i] = float(ones);
}
