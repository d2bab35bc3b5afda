// Sums of all chunks to gradients of the logits: a thread a gate of sixteen logits, or an entry of
// another. Also the sum over the group's gradients of their squares, and whether one is not finite.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

#include "common/functions.glsl"

layout(std430, binding = 5) readonly buffer Sums { float sums[]; };
layout(std430, binding = 6) readonly buffer Logits { float logits[]; };
layout(std430, binding = 7) readonly buffer Masks { float masks[]; };
layout(std430, binding = 8) writeonly buffer LogitGradients { float logit_gradients[]; };
layout(std430, binding = 10) writeonly buffer Parts { vec2 parts[]; };

#include "network/staged_logits.glsl"

#include "common/gates.glsl"
#include "network/tables.glsl"

shared float squares[THREADS];
shared uint is_broken;

/// Coefficient `at` of a gate.
float sum_of(int gate, int at) {
  const int own = (push.first_quad + gate * QUADS) * 4 + at;
  precise float sum = 0.0;
  for (int chunk = 0; chunk < push.chunks; ++chunk) sum += sums[chunk * push.quads * 4 + own];
  return sum;
}

/// The square of a gradient, once clipped.
float square_of(float gradient) {
  if (!is_finite(gradient)) atomicOr(is_broken, 1u);
  if (numbers.clip_value > 0.0) {
    gradient = clamp(gradient, -numbers.clip_value, numbers.clip_value);
  }
  return gradient * gradient;
}

/// A gate of sixteen logits; their gradients take the logits' places on the stage.
float take_sixteen_back(int gate) {
  const int own = push.first_gate + gate;
  const vec4 g = vec4(sum_of(gate, 0), sum_of(gate, 1), sum_of(gate, 2), sum_of(gate, 3));
  const vec4 slopes =
      masks[own] * push.factor * vec4((g.x - g.y) - (g.z - g.w), g.y - g.w, g.z - g.w, g.w);
  const Table table = softmax_table(staged_row());
  precise float square = 0.0;
  for (int i = 0; i < 16; ++i) {
    const int at = staged_row() + i;
    staged[at] = logit_gradient(staged[at], table, slopes, i);
    square += square_of(staged[at]);
  }
  return square;
}

/// As many gates of sixteen logits as the group has threads.
float finish_sixteens(int first) {
  const int begin = (push.first_gate + first) * 16;
  const int count = (push.gates - first) * 16;
  stage_logits(begin, count);
  float square = 0.0;
  if (first + thread() < push.gates) square = take_sixteen_back(first + thread());
  barrier();
  for (int i = thread(); i < min(count, THREADS * 16); i += THREADS) {
    logit_gradients[begin + i] = staged[staged_at(i)];
  }
  return square;
}

float finish_entry(int gate, int entry) {
  const bool is_there = gate < push.gates;
  float g = is_there ? sum_of(gate, entry) : 0.0;
  for (int bit = 1; bit < ENTRIES; bit *= 2) {
    const float other = across(g, bit);
    if ((entry & bit) == 0) g -= other;
  }
  const float z = entry_logit(gate, entry);
  const float mask = is_there ? masks[push.first_gate + gate] : 0.0;
  g *= mask * push.factor * (logistic(z) * logistic(-z));
  if (WALSH != 0) g = walsh_sums_back(g, entry);
  if (!is_there) return 0.0;
  logit_gradients[push.first_logit + gate * ENTRIES + entry] = g;
  return square_of(g);
}

void main() {
  if (thread() == 0) is_broken = 0;
  barrier();
  squares[thread()] = SOFTMAX != 0 ? finish_sixteens(group() * THREADS)
                                   : finish_entry(item() / ENTRIES, item() % ENTRIES);
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) squares[thread()] += squares[thread() + half_way];
    barrier();
  }
  if (thread() == 0) parts[push.first_part + group()] = vec2(squares[0], float(is_broken));
}
