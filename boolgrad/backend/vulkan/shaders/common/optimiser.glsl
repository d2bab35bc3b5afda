// AdamW, after clipping by value and by norm, and noise. Needs the buffers `parameters`,
// `gradients` and `moments`.
#extension GL_EXT_control_flow_attributes : require

/// The stream of optim/gradients.cpp.
const uint GRADIENT_NOISE_STREAM = 0x01000000u;

/// Standard normal, as `random_normal`, up to rounding.
float normal(uvec4 bits) {
  const float radius =
      (float(bits.x) + float(bits.y) * 2.3283064e-10) * 2.3283064e-10 + 1.110223e-16;
  const float angle = (float(bits.z) + float(bits.w) * 2.3283064e-10) * 2.3283064e-10;
  return sqrt(max(-2.0 * exact_log(radius), 0.0)) * cos_of_turns(angle);
}

/// Clips and adds noise; `norm` is that of all gradients. Exact zeros stay zero.
float clipped_and_noisy(float gradient, float norm, uint index) {
  if (arguments.clip_value > 0.0) {
    gradient = clamp(gradient, -arguments.clip_value, arguments.clip_value);
  }
  if (arguments.clip_norm > 0.0 && norm > arguments.clip_norm)
    gradient *= arguments.clip_norm / norm;
  if (arguments.noise == 0.0 || gradient == 0.0) return gradient;
  const uvec4 bits = random_bits(uvec2(arguments.noise_seed_low, arguments.noise_seed_high),
                                 GRADIENT_NOISE_STREAM, arguments.noise_step, uvec2(index, 0));
  return gradient + arguments.noise * normal(bits);
}

const int UPDATED_AT_ONCE = 4;

/// A parameter, its gradient, and its moments.
struct Updated {
  float p, g, m, v;
};

/// Updates parameters `first`, `first + stride` and so on of `count`; second moments begin at
/// `second`. Several are loaded before the first is stored, to hide memory latency.
void update_parameters(int first, int stride, int count, int second, float norm) {
  for (int begin = first; begin < count; begin += stride * UPDATED_AT_ONCE) {
    Updated all[UPDATED_AT_ONCE];
    [[unroll]] for (int k = 0; k < UPDATED_AT_ONCE; ++k) {
      const int i = min(begin + k * stride, count - 1);
      all[k] = Updated(parameters[i], gradients[i], moments[i], moments[second + i]);
    }
    [[unroll]] for (int k = 0; k < UPDATED_AT_ONCE; ++k) {
      const int i = begin + k * stride;
      if (i >= count) continue;
      const float g = clipped_and_noisy(all[k].g, norm, uint(i));
      precise const float m = arguments.beta1 * all[k].m + arguments.rest1 * g;
      precise const float v = arguments.beta2 * all[k].v + arguments.rest2 * (g * g);
      precise const float spread = sqrt(v * arguments.scale) + arguments.epsilon;
      precise const float p = all[k].p * arguments.keep - arguments.rate * m / spread;
      moments[i] = m;
      moments[second + i] = v;
      parameters[i] = p;
    }
  }
}
