// Tables of gates of any number of inputs, each entry a sigmoid's: a thread an entry. Those of
// softmax16 are in `gates.glsl`.

shared float entry_values[THREADS];

/// What the entry has that differs in `bit`. All threads of a group take part.
float across(float value, int bit) {
  entry_values[thread()] = value;
  barrier();
  const float other = entry_values[thread() ^ bit];
  barrier();
  return other;
}

/// Walsh coefficients become the logits of entries: z(0) = w - v and z(1) = w + v, where v is the
/// coefficient of the sets with the input.
float walsh_sums(float w, int entry) {
  for (int bit = 1; bit < ENTRIES; bit *= 2) {
    const float other = across(w, bit);
    w = (entry & bit) == 0 ? w - other : other + w;
  }
  return w;
}

/// Gradients of the logits of entries become those of coefficients.
float walsh_sums_back(float g, int entry) {
  for (int bit = 1; bit < ENTRIES; bit *= 2) {
    const float other = across(g, bit);
    g = (entry & bit) == 0 ? g + other : g - other;
  }
  return g;
}

/// The logit of an entry of a gate; 0 where there is no such gate.
float entry_logit(int gate, int entry) {
  float z = 0.0;
  if (gate < push.gates) z = logits[push.first_logit + gate * ENTRIES + entry];
  return WALSH != 0 ? walsh_sums(z, entry) : z;
}

float logistic(float z) { return 1.0 / (1.0 + exact_exp(-z)); }
