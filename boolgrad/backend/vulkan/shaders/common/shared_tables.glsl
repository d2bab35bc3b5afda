// The table of a gate by sixteen threads, of which each takes one exponential; all threads of a
// group take part. Needs `gates.glsl`. Sums are taken in the order of a single thread, so the bits
// are the same.

const int TABLE_LANES = 16;
shared float table_logits[THREADS];
shared float table_shares[THREADS];

/// `row` is the first of the gate's places among those of the group, `lane` the thread's own.
Table shared_softmax_table(int gate, int row, int lane) {
  const float logit = logits[gate * 16 + lane];
  table_logits[row + lane] = logit;
  barrier();
  Table made = Table(vec4(0), vec4(0), 0u, table_logits[row], 0.0);
  int likeliest = 0;
  for (int i = 1; i < 16; ++i) {
    if (table_logits[row + i] > made.most) {
      made.most = table_logits[row + i];
      likeliest = i;
    }
  }
  made.hard = entries_of(likeliest);
  table_shares[row + lane] = exact_exp(logit - made.most);
  barrier();
  for (int i = 0; i < 16; ++i) add_share(made, i, table_shares[row + i]);
  made.soft /= made.total;
  made.rest /= made.total;
  return made;
}

Table shared_table(int gate, int row, int lane) {
  if (SOFTMAX == 0) return sigmoid_table(gate * 4);
  return shared_softmax_table(gate, row, lane);
}
