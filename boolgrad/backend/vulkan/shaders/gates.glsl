// From logits to tables and back. A table's entry e has the first input in bit 0 and the second in
// bit 1.

/// A gate's soft and hardened table, and what the way back needs.
struct Table {
  vec4 soft;
  uint hard;
  float most, total;  // of softmax: the largest logit, and the sum of exp(logit - most)
};

/// Entry e of gate 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
uint gate_entry(int gate, int e) {
  const int place = e == 0 ? 3 : e == 1 ? 1 : e == 2 ? 2 : 0;
  return uint(gate >> place) & 1u;
}

/// The sixteen gates weighted by a softmax; hardened, the likeliest, the first on a tie.
Table softmax_table(int at) {
  Table made = Table(vec4(0), 0u, logits[at], 0.0);
  int likeliest = 0;
  for (int i = 1; i < 16; ++i) {
    const float logit = logits[at + i];
    if (logit > made.most) {
      made.most = logit;
      likeliest = i;
    }
  }
  for (int i = 0; i < 16; ++i) {
    const float share = exact_exp(logits[at + i] - made.most);
    made.total += share;
    for (int e = 0; e < 4; ++e) {
      if (gate_entry(i, e) != 0) made.soft[e] += share;
    }
  }
  made.soft /= made.total;
  for (int e = 0; e < 4; ++e) made.hard |= gate_entry(likeliest, e) << e;
  return made;
}

/// An entry a logit.
Table sigmoid_table(int at) {
  Table made = Table(vec4(0), 0u, 0.0, 0.0);
  for (int e = 0; e < 4; ++e) {
    made.soft[e] = 1.0 / (1.0 + exact_exp(-logits[at + e]));
    made.hard |= (logits[at + e] > 0.0 ? 1u : 0u) << e;
  }
  return made;
}

Table table_of(int gate) {
  return SOFTMAX != 0 ? softmax_table(gate * 16) : sigmoid_table(gate * 4);
}

/// The gradient of logit i of a gate, given those of the entries.
float logit_gradient(int gate, Table of, vec4 slopes, int i) {
  if (SOFTMAX == 0) return slopes[i] * of.soft[i] * (1.0 - of.soft[i]);
  float slope = 0.0;
  for (int e = 0; e < 4; ++e) slope += slopes[e] * (float(gate_entry(i, e)) - of.soft[e]);
  return exact_exp(logits[gate * 16 + i] - of.most) / of.total * slope;
}
