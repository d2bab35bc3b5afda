// How hard the tables of a step are, at the addresses of `logic/hardening.h`. Needs
// `functions.glsl` and `random.glsl`, and the constants HARDENING and PARAMETRISATION.

// As `HardeningKind`, of which shaders see these.
const int HARDENING_GATES = 2, HARDENING_TEMPERATURE = 5, HARDENING_NOISE = 6, HARDENING_FREEZE = 7;

/// Whether tables are made of other logits than the model's own.
const bool CHANGES_LOGITS = HARDENING == HARDENING_TEMPERATURE || HARDENING == HARDENING_NOISE;

/// The 53 bits of a uniform number, the high word first.
uvec2 uniform_bits(uvec2 index) {
  const uvec4 bits = random_bits(uvec2(arguments.hard_seed_low, arguments.hard_seed_high),
                                 arguments.hard_stream, arguments.hard_step, index);
  return uvec2(bits.x >> 11, bits.x << 21 | bits.y >> 11);
}

/// Of a number of 53 bits, its share of 2^53, to the last bits of float.
float share_of_bits(uvec2 bits) {
  return (float(bits.x) + float(bits.y) * 2.3283064365386963e-10) * 4.76837158203125e-7;
}

/// -log(-log u), of a uniform number u. Where u is near 1, what is left to 1 is taken from the
/// bits: as a float, u would have lost it.
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

/// What is added to value `value` of a layer: logits of softmax16, or of entries.
float logit_noise(int layer, int value) {
  if (PARAMETRISATION == SOFTMAX16) {
    return arguments.noise_scale * gumbel(uvec2(value, layer));
  }
  return arguments.noise_scale *
         (gumbel(uvec2(2 * value, layer)) - gumbel(uvec2(2 * value + 1, layer)));
}

/// The logit that a table of the step is made of.
float step_logit(float own, int layer, int value) {
  if (HARDENING == HARDENING_TEMPERATURE) return own * arguments.logit_scale;
  if (HARDENING == HARDENING_NOISE) return own + logit_noise(layer, value);
  return own;
}

/// How hard the table of a gate is; `frozen` says whether it is, where gates are frozen.
float hardened_share(int layer, int gate, float frozen) {
  if (HARDENING == HARDENING_FREEZE) return frozen;
  if (HARDENING != HARDENING_GATES) return arguments.share;
  const uvec2 drawn = uniform_bits(uvec2(gate, layer));
  const bool is_below =
      drawn.x < arguments.gate_below_high ||
      (drawn.x == arguments.gate_below_high && drawn.y < arguments.gate_below_low);
  return is_below ? 1.0 : 0.0;
}

/// What gradients of a step's tables are multiplied by on their way to the logits.
float hardened_slope(float frozen) {
  if (HARDENING == HARDENING_TEMPERATURE) return arguments.logit_scale;
  return HARDENING == HARDENING_FREEZE ? 1.0 - frozen : 1.0;
}
