// From the sums of all chunks to gradients of the logits: one thread per softmax16 gate, or per
// table entry. Also the workgroup's sum of squared gradients, and whether one is not finite.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"
#include "common/random.glsl"

layout(std430, binding = 5) readonly buffer Sums { float sums[]; };
layout(std430, binding = 6) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 7) readonly buffer Masks { float masks[]; };  // then the frozen flags
layout(std430, binding = 8) writeonly buffer Gradients { float gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };

#include "common/hardening.glsl"
#include "network/staged_logits.glsl"

#include "common/gates.glsl"
#include "network/tables.glsl"

#include "common/norm_parts.glsl"

/// The gradient of coefficient `at` of a gate.
float sum_of(int gate, int at) {
  const int own = (push.first_sum + gate * QUADS) * 4 + at;
  const int stride = push.tables * QUADS * 4;
  precise float sum = 0.0;
  for (int chunk = 0; chunk < push.chunks; ++chunk) sum += sums[chunk * stride + own];
  return sum;
}

float frozen(int gate) {
  return HARDENING == HARDENING_FREEZE ? masks[push.all_tables + push.first_table + gate] : 0.0;
}

/// Factor from the gradients of a gate's table to those of its logits.
float factor_of(int gate) {
  return masks[push.first_table + gate] * push.factor * hardened_slope(frozen(gate));
}

/// A gate with sixteen logits. Their gradients replace the staged logits.
float softmax_backward(int gate) {
  const vec4 g = vec4(sum_of(gate, 0), sum_of(gate, 1), sum_of(gate, 2), sum_of(gate, 3));
  const vec4 slopes = factor_of(gate) * vec4((g.x - g.y) - (g.z - g.w), g.y - g.w, g.z - g.w, g.w);
  const Table table = softmax_table(staged_row());
  precise float square = 0.0;
  for (int i = 0; i < 16; ++i) {
    const int at = staged_row() + i;
    staged[at] = softmax_gradient(staged[at], table, slopes, i);
    square += square_of(staged[at]);
  }
  return square;
}

/// One softmax16 gate per thread.
float finish_sixteens(int first) {
  const int count = (push.tables - first) * 16;
  stage_logits(first * 16, count);
  float square = 0.0;
  if (first + thread() < push.tables) square = softmax_backward(first + thread());
  barrier();
  for (int i = thread(); i < min(count, THREADS * 16); i += THREADS) {
    gradients[push.first_logit + first * 16 + i] = staged[staged_at(i)];
  }
  return square;
}

float finish_entry(int gate, int entry) {
  const bool is_there = gate < push.tables;
  float g = is_there ? sum_of(gate, entry) : 0.0;
  for (int bit = 1; bit < ENTRIES; bit *= 2) {
    const float other = across(g, bit);
    if ((entry & bit) == 0) g -= other;
  }
  const float z = entry_logit(gate, entry);
  const float factor = is_there ? factor_of(gate) : 0.0;
  g *= factor * (logistic(z) * logistic(-z));
  if (PARAMETRISATION == WALSH) g = walsh_sums_back(g, entry);
  if (!is_there) return 0.0;
  gradients[push.first_logit + gate * ENTRIES + entry] = g;
  return square_of(g);
}

void main() {
  begin_norm();
  barrier();
  store_norm(push.first_part + group(), PARAMETRISATION == SOFTMAX16
                                            ? finish_sixteens(group() * THREADS)
                                            : finish_entry(item() / ENTRIES, item() % ENTRIES));
}
