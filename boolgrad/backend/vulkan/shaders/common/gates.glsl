// From logits to tables and back. In the index of a table entry, bit 0 is the first input and bit 1
// the second. The macro LOGIT defines where logits are read from.
#ifndef LOGIT
#define LOGIT(at) parameters[at]
#endif

/// The soft and hardened table of a gate, and intermediate values for the backward pass. 1 - soft
/// is computed separately: for saturated gates, the subtraction would leave only rounding errors.
struct Table {
  vec4 soft;
  vec4 rest;  // 1 - soft
  uint hard;
  float max_logit, total;  // softmax: the largest logit, and the sum of exp(logit - max_logit)
};

/// Entry e of gate 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
uint gate_entry(int gate, int e) {
  const int bit = e == 0 ? 3 : e == 1 ? 1 : e == 2 ? 2 : 0;
  return uint(gate >> bit) & 1u;
}

/// c0 + c1 a + c2 b + c3 ab. Differences along one input first, which saves one rounding.
vec4 polynomial_of(vec4 f) { return vec4(f.x, f.y - f.x, f.z - f.x, (f.w - f.y) - (f.z - f.x)); }

vec4 entries_as_floats(uint entries) {
  return vec4(entries & 1u, entries >> 1 & 1u, entries >> 2 & 1u, entries >> 3 & 1u);
}

uint entries_of(int gate) {
  return gate_entry(gate, 0) | gate_entry(gate, 1) << 1 | gate_entry(gate, 2) << 2 |
         gate_entry(gate, 3) << 3;
}

/// Adds gate i of sixteen with its weight. The sum is normalised at the end.
void add_share(inout Table made, int i, float share) {
  const vec4 in_table = entries_as_floats(entries_of(i));
  made.total += share;
  made.soft += share * in_table;
  made.rest += share * (1.0 - in_table);
}

/// The sixteen gates weighted by a softmax. Hardened: the most likely gate, the first in a tie.
Table softmax_table(int at) {
  Table made = Table(vec4(0), vec4(0), 0u, LOGIT(at), 0.0);
  int likeliest = 0;
  for (int i = 1; i < 16; ++i) {
    const float logit = LOGIT(at + i);
    if (logit > made.max_logit) {
      made.max_logit = logit;
      likeliest = i;
    }
  }
  for (int i = 0; i < 16; ++i) add_share(made, i, exact_exp(LOGIT(at + i) - made.max_logit));
  made.soft /= made.total;
  made.rest /= made.total;
  made.hard = entries_of(likeliest);
  return made;
}

/// From the logits of the entries.
Table entries_table(vec4 z) {
  Table made = Table(vec4(0), vec4(0), 0u, 0.0, 0.0);
  for (int e = 0; e < 4; ++e) {
    made.soft[e] = 1.0 / (1.0 + exact_exp(-z[e]));
    made.rest[e] = 1.0 / (1.0 + exact_exp(z[e]));
    made.hard |= (z[e] > 0.0 ? 1u : 0u) << e;
  }
  return made;
}

/// Walsh coefficients to entry logits, and gradients of entry logits to gradients of coefficients.
vec4 walsh_sums(vec4 w) {
  const vec4 half_way = vec4(w.x - w.y, w.x + w.y, w.z - w.w, w.z + w.w);
  return vec4(half_way.xy - half_way.zw, half_way.xy + half_way.zw);
}
vec4 walsh_sums_back(vec4 g) {
  const vec4 half_way = vec4(g.x + g.y, g.y - g.x, g.z + g.w, g.w - g.z);
  return vec4(half_way.xy + half_way.zw, half_way.zw - half_way.xy);
}

/// The gradient of logit i of sixteen, given the gradients of the entries.
float softmax_gradient(float logit, Table of, vec4 slopes, int i) {
  const vec4 terms = slopes * mix(-of.soft, of.rest, entries_as_floats(entries_of(i)));
  precise const float slope = ((terms.x + terms.y) + terms.z) + terms.w;
  return exact_exp(logit - of.max_logit) / of.total * slope;
}
