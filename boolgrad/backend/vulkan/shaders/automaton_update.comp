// AdamW with what is done to gradients before, unless something is not finite: a thread a logit.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton.glsl"
#include "functions.glsl"
#include "random.glsl"

layout(std430, binding = 11) buffer Logits { float logits[]; };
layout(std430, binding = 13) readonly buffer Gradients { float gradients[]; };
layout(std430, binding = 14) buffer Moments { float moments[]; };  // first, then second ones
layout(std430, binding = 15) readonly buffer Parts { vec2 parts[]; };
layout(std430, binding = 16) readonly buffer LossParts { float loss_parts[]; };
layout(std430, binding = 18) writeonly buffer Finite { uint finite[]; };

/// The stream of optim/gradients.cpp.
const uint GRADIENT_NOISE_STREAM = 0x01000000u;

shared float squares[THREADS];
shared uint is_broken;

/// Every group looks at all parts itself.
void look_at_parts() {
  if (thread() == 0) is_broken = 0;
  barrier();
  precise float sum = 0.0;
  bool broken = false;
  for (int i = thread(); i < push.finish_groups; i += THREADS) {
    sum += parts[i].x;
    broken = broken || parts[i].y != 0.0;
  }
  for (int i = thread(); i < push.parts; i += THREADS) {
    broken = broken || !is_finite(loss_parts[i]);
  }
  if (broken) atomicOr(is_broken, 1u);
  squares[thread()] = sum;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) squares[thread()] += squares[thread() + half_way];
    barrier();
  }
}

/// Standard normal, as `random_normal`, up to rounding.
float normal(uvec4 bits) {
  const float radius =
      (float(bits.x) + float(bits.y) * 2.3283064e-10) * 2.3283064e-10 + 1.110223e-16;
  const float angle = (float(bits.z) + float(bits.w) * 2.3283064e-10) * 2.3283064e-10;
  return sqrt(max(-2.0 * exact_log(radius), 0.0)) * turned_cos(angle);
}

/// Clipped by value and by norm, and with noise; what is exactly 0 stays so.
float treated(float gradient, uint index) {
  if (numbers.clip_value > 0.0) {
    gradient = clamp(gradient, -numbers.clip_value, numbers.clip_value);
  }
  const float norm = sqrt(squares[0]);
  if (numbers.clip_norm > 0.0 && norm > numbers.clip_norm) gradient *= numbers.clip_norm / norm;
  if (numbers.noise == 0.0 || gradient == 0.0) return gradient;
  const uvec4 bits = random_bits(uvec2(numbers.noise_seed_low, numbers.noise_seed_high),
                                 GRADIENT_NOISE_STREAM, numbers.noise_step, uvec2(index, 0));
  return gradient + numbers.noise * normal(bits);
}

void update_logit(int i, int count) {
  const float g = treated(gradients[i], uint(i));
  precise const float m = numbers.beta1 * moments[i] + numbers.rest1 * g;
  precise const float v = numbers.beta2 * moments[count + i] + numbers.rest2 * (g * g);
  precise const float spread = sqrt(v * numbers.scale) + numbers.epsilon;
  precise const float p = logits[i] * numbers.keep - numbers.rate * m / spread;
  moments[i] = m;
  moments[count + i] = v;
  logits[i] = p;
}

void main() {
  look_at_parts();
  if (gl_GlobalInvocationID.x == 0) finite[0] = is_broken == 0 ? 1 : 0;
  if (is_broken != 0) return;
  const int count = GATES * LOGITS;
  const int stride = int(gl_NumWorkGroups.x) * THREADS;
  for (int i = int(gl_GlobalInvocationID.x); i < count; i += stride) update_logit(i, count);
}
