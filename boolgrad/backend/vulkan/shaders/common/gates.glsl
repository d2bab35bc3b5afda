// From logits to tables and back. A table's entry e has the first input in bit 0 and the second in
// bit 1. Logits are where LOGIT says.
#ifndef LOGIT
#define LOGIT(at) parameters[at]
#endif

/// A gate's soft and hardened table, and what the way back needs. What is left to 1 is not taken
/// from 1: where a gate is nearly sure, it would be of the size of rounding errors.
struct Table {
  vec4 soft;
  vec4 rest;  // 1 - soft
  uint hard;
  float most, total;  // of softmax: the largest logit, and the sum of exp(logit - most)
};

/// Entry e of gate 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
uint gate_entry(int gate, int e) {
  const int place = e == 0 ? 3 : e == 1 ? 1 : e == 2 ? 2 : 0;
  return uint(gate >> place) & 1u;
}

/// c0 + c1 a + c2 b + c3 ab. Differences along one input first: a rounding less than term by term.
vec4 polynomial_of(vec4 f) { return vec4(f.x, f.y - f.x, f.z - f.x, (f.w - f.y) - (f.z - f.x)); }

vec4 entries_as_floats(uint entries) {
  return vec4(entries & 1u, entries >> 1 & 1u, entries >> 2 & 1u, entries >> 3 & 1u);
}

uint entries_of(int gate) {
  return gate_entry(gate, 0) | gate_entry(gate, 1) << 1 | gate_entry(gate, 2) << 2 |
         gate_entry(gate, 3) << 3;
}

/// Adds gate i of sixteen with its share, which is divided by the sum of all in the end.
void add_share(inout Table made, int i, float share) {
  const vec4 in_table = entries_as_floats(entries_of(i));
  made.total += share;
  made.soft += share * in_table;
  made.rest += share * (1.0 - in_table);
}

/// The sixteen gates weighted by a softmax; hardened, the likeliest, the first on a tie.
Table softmax_table(int at) {
  Table made = Table(vec4(0), vec4(0), 0u, LOGIT(at), 0.0);
  int likeliest = 0;
  for (int i = 1; i < 16; ++i) {
    const float logit = LOGIT(at + i);
    if (logit > made.most) {
      made.most = logit;
      likeliest = i;
    }
  }
  for (int i = 0; i < 16; ++i) add_share(made, i, exact_exp(LOGIT(at + i) - made.most));
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

/// Walsh coefficients become the logits of entries, and gradients of these those of coefficients.
vec4 walsh_sums(vec4 w) {
  const vec4 half_way = vec4(w.x - w.y, w.x + w.y, w.z - w.w, w.z + w.w);
  return vec4(half_way.xy - half_way.zw, half_way.xy + half_way.zw);
}
vec4 walsh_sums_back(vec4 g) {
  const vec4 half_way = vec4(g.x + g.y, g.y - g.x, g.z + g.w, g.w - g.z);
  return vec4(half_way.xy + half_way.zw, half_way.zw - half_way.xy);
}

/// The gradient of logit i of sixteen, given those of the entries.
float softmax_gradient(float logit, Table of, vec4 slopes, int i) {
  const vec4 terms = slopes * mix(-of.soft, of.rest, entries_as_floats(entries_of(i)));
  precise const float slope = ((terms.x + terms.y) + terms.z) + terms.w;
  return exact_exp(logit - of.most) / of.total * slope;
}
