// Learned wires. The slots that gates read are laid out as a layer of their own: its gates are the
// slots, and its first quad is the first of the probabilities. Candidate k of a slot has index
// slot * candidates + k.

layout(std430, binding = 1) readonly buffer Wires { int wires[]; };

bool has_all_candidates() { return push.sources < 0; }

/// The slot whose logits a slot shares: the gates that share a table share those of its slots.
int logit_slot(int slot) {
  if (SHARES_TABLES == 0) return slot;
  return slot / ARITY / push.positions * ARITY + slot % ARITY;
}

/// The input that is candidate k of a slot; -1 for a place outside of an image.
int source_of(int slot, int k) {
  return has_all_candidates() ? k : wires[push.sources + slot * push.candidates + k];
}
