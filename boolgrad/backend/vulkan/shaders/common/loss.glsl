// Losses of one output and their derivatives, with the conventions of `ops/loss.h`.

const int SQUARES = 0, L4 = 1, BCE = 2, FOCAL = 3;
const float MIN_PROBABILITY = 1e-7;
const float MAX_PROBABILITY = 1.0 - 1e-7;

/// NaN stays NaN.
float clipped_probability(float p) {
  return is_nan(p) ? p : clamp(p, MIN_PROBABILITY, MAX_PROBABILITY);
}

float loss_value(float gamma, float y, float target) {
  const float off = y - target;
  if (LOSS_KIND == SQUARES) return off * off;
  if (LOSS_KIND == L4) return off * off * (off * off);
  if (is_nan(y)) return y;
  const float log_p = exact_log(clipped_probability(y));
  const float log_q = exact_log(clipped_probability(1.0 - y));
  if (LOSS_KIND == BCE) return -(target * log_p + (1.0 - target) * log_q);
  return -(target * exact_exp(gamma * log_q) * log_p +
           (1.0 - target) * exact_exp(gamma * log_p) * log_q);
}

float loss_slope(float gamma, float y, float target) {
  const float off = y - target;
  if (LOSS_KIND == SQUARES) return 2.0 * off;
  if (LOSS_KIND == L4) return 4.0 * off * (off * off);
  if (!(y >= MIN_PROBABILITY && y <= MAX_PROBABILITY)) return 0.0;
  const float p = clipped_probability(y);
  const float q = clipped_probability(1.0 - y);
  if (LOSS_KIND == BCE) return (p - target) / (p * q);
  const float log_p = exact_log(p);
  const float log_q = exact_log(q);
  const float for_one = exact_exp(gamma * log_q) * (gamma * log_p / q - 1.0 / p);
  const float for_zero = exact_exp(gamma * log_p) * (1.0 / q - gamma * log_q / p);
  return target * for_one + (1.0 - target) * for_zero;
}
