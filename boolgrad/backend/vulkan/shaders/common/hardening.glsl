// Hardening of a step's tables, with the random addresses of `logic/hardening.h`. Needs
// `functions.glsl` and `random.glsl`, and the constants HARDENING and PARAMETRISATION.

// The values of `HardeningKind` that shaders handle.
const int HARDENING_GATES = 2, HARDENING_TEMPERATURE = 5, HARDENING_NOISE = 6, HARDENING_FREEZE = 7;

/// Whether the step's logits differ from the model's own.
const bool CHANGES_LOGITS = HARDENING == HARDENING_TEMPERATURE || HARDENING == HARDENING_NOISE;

/// 53 random bits, the high word first.
uvec2 uniform_bits(uvec2 index) {
  const uvec4 bits = random_bits(uvec2(arguments.hard_seed_low, arguments.hard_seed_high),
                                 arguments.hard_stream, arguments.hard_step, index);
  return uvec2(bits.x >> 11, bits.x << 21 | bits.y >> 11);
}

/// 53 bits as a fraction of 2^53, accurate to the last bits of a float.
float share_of_bits(uvec2 bits) {
  return (float(bits.x) + float(bits.y) * 2.3283064365386963e-10) * 4.76837158203125e-7;
}

/// -log(-log u), for a uniform u. Near 1, 1 - u is computed from the bits, because a float u would
/// have lost it.
float gumbel(uvec2 index) {
  uvec2 bits = uniform_bits(index);
  if (bits.x < 3u << 19) {
    return -exact_log(-exact_log(max(share_of_bits(bits), 5.551115123125783e-17)));
  }
  uint borrow;
  const uint low = usubBorrow(0u, bits.y, borrow);
  const float rest = share_of_bits(uvec2((1u << 21) - bits.x - borrow, low));
  // -log(1 - rest) = 2 atanh(rest / (2 - rest))
  const float s = rest / (2.0 - rest);
  return -exact_log(twice_atanh(s));
}

/// The noise on value `value` of a layer: a softmax16 logit, or an entry logit.
float logit_noise(int layer, int value) {
  if (PARAMETRISATION == SOFTMAX16) {
    return arguments.noise_scale * gumbel(uvec2(value, layer));
  }
  return arguments.noise_scale *
         (gumbel(uvec2(2 * value, layer)) - gumbel(uvec2(2 * value + 1, layer)));
}

/// The logit that a table of the step is computed from.
float step_logit(float own, int layer, int value) {
  if (HARDENING == HARDENING_TEMPERATURE) return own * arguments.logit_scale;
  if (HARDENING == HARDENING_NOISE) return own + logit_noise(layer, value);
  return own;
}

/// How hard the table of a gate is, from 0 to 1. `frozen` is only used if hardening freezes gates.
float hardened_share(int layer, int gate, float frozen) {
  if (HARDENING == HARDENING_FREEZE) return frozen;
  if (HARDENING != HARDENING_GATES) return arguments.share;
  const uvec2 random = uniform_bits(uvec2(gate, layer));
  const bool is_below =
      random.x < arguments.gate_below_high ||
      (random.x == arguments.gate_below_high && random.y < arguments.gate_below_low);
  return is_below ? 1.0 : 0.0;
}

/// Factor from the gradients of a step's tables to those of the logits.
float hardened_slope(float frozen) {
  if (HARDENING == HARDENING_TEMPERATURE) return arguments.logit_scale;
  return HARDENING == HARDENING_FREEZE ? 1.0 - frozen : 1.0;
}
