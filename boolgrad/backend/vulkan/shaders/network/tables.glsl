// Tables with one sigmoid per entry, for any number of inputs: one thread per entry. Those of
// softmax16 are in `gates.glsl`. Needs `hardening.glsl`.

shared float entry_values[THREADS];

/// The value of the entry that differs in `bit`. All threads of a workgroup take part.
float across(float value, int bit) {
  entry_values[thread()] = value;
  barrier();
  const float other = entry_values[thread() ^ bit];
  barrier();
  return other;
}

/// Walsh coefficients to entry logits: z(0) = w - v and z(1) = w + v, where v is the coefficient of
/// the sets that contain the input.
float walsh_sums(float w, int entry) {
  for (int bit = 1; bit < ENTRIES; bit *= 2) {
    const float other = across(w, bit);
    w = (entry & bit) == 0 ? w - other : other + w;
  }
  return w;
}

/// Gradients of entry logits to gradients of coefficients.
float walsh_sums_back(float g, int entry) {
  for (int bit = 1; bit < ENTRIES; bit *= 2) {
    const float other = across(g, bit);
    g = (entry & bit) == 0 ? g + other : g - other;
  }
  return g;
}

/// The logit of a gate's entry in this step; 0 if there is no such gate.
float entry_logit(int gate, int entry) {
  const int value = gate * ENTRIES + entry;
  float z = 0.0;
  if (gate < push.tables) z = parameters[push.first_logit + value];
  if (PARAMETRISATION == WALSH) z = walsh_sums(z, entry);
  return step_logit(z, push.layer, value);
}

float logistic(float z) { return 1.0 / (1.0 + exact_exp(-z)); }
