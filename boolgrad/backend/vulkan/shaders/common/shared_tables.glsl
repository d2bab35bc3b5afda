// The table of an automaton's gate, computed by sixteen threads with one exponential each. All
// threads of a workgroup take part. Needs `gates.glsl` and `hardening.glsl`. The order of sums is
// that of a single thread, so the results are bit-identical.

const int TABLE_LANES = 16;
shared float table_logits[THREADS];
shared float table_shares[THREADS];

/// The layer of a gate, and the layer's first gate.
struct LayerOfGate {
  int number, first_gate;
};

LayerOfGate layer_of(int gate) {
  const uint layer = table[LAYER_OF + gate];
  return LayerOfGate(int(layer & 0xFFu), int(layer >> 8));
}

/// Logit i of a gate: the model's own or, if `of_step`, the one used in this training step.
float logit_of(int gate, int i, float own, bool of_step) {
  if (!of_step || !CHANGES_LOGITS) return own;
  const LayerOfGate layer = layer_of(gate);
  return step_logit(own, layer.number, (gate - layer.first_gate) * LOGITS + i);
}

float sixteenth_logit(int gate, int i, bool of_step) {
  return logit_of(gate, i, parameters[gate * 16 + i], of_step);
}

/// The logits of the entries.
vec4 entry_logits(int gate, bool of_step) {
  vec4 z = vec4(parameters[gate * 4], parameters[gate * 4 + 1], parameters[gate * 4 + 2],
                parameters[gate * 4 + 3]);
  if (PARAMETRISATION == WALSH) z = walsh_sums(z);
  for (int e = 0; e < 4; ++e) z[e] = logit_of(gate, e, z[e], of_step);
  return z;
}

/// `row` is the offset of the gate's lanes in the workgroup, `lane` the thread's index among them.
Table shared_softmax_table(int gate, int row, int lane, bool of_step) {
  const float logit = sixteenth_logit(gate, lane, of_step);
  table_logits[row + lane] = logit;
  barrier();
  Table made = Table(vec4(0), vec4(0), 0u, table_logits[row], 0.0);
  int likeliest = 0;
  for (int i = 1; i < 16; ++i) {
    if (table_logits[row + i] > made.max_logit) {
      made.max_logit = table_logits[row + i];
      likeliest = i;
    }
  }
  made.hard = entries_of(likeliest);
  table_shares[row + lane] = exact_exp(logit - made.max_logit);
  barrier();
  for (int i = 0; i < 16; ++i) add_share(made, i, table_shares[row + i]);
  made.soft /= made.total;
  made.rest /= made.total;
  return made;
}

Table shared_table(int gate, int row, int lane, bool of_step) {
  if (PARAMETRISATION != SOFTMAX16) return entries_table(entry_logits(gate, of_step));
  return shared_softmax_table(gate, row, lane, of_step);
}

/// The gradient of logit i of a gate, given its table and the gradients of the entries.
float logit_gradient(int gate, int i, Table of, vec4 slopes, bool of_step) {
  if (PARAMETRISATION == SOFTMAX16) {
    return softmax_gradient(sixteenth_logit(gate, i, of_step), of, slopes, i);
  }
  const vec4 g = slopes * of.soft * of.rest;
  return PARAMETRISATION == WALSH ? walsh_sums_back(g)[i] : g[i];
}
