// The wires of a layer of gates. Needs the buffer `activations`.

layout(std430, binding = 1) readonly buffer Wires { int wires[]; };

/// Gates and inputs in processing order: neighbours share the rows that they read, so that these
/// are found in a cache.
int ordered_gate(int i) { return wires[push.sources - push.gates + i]; }
int ordered_input(int i) { return wires[push.first_reader - push.inputs + i]; }

int table_of(int gate) { return SHARES_TABLES == 0 ? gate : gate / push.positions; }

/// The value of input `slot` of a gate; 0 for a place outside of an image.
vec4 input_of(int gate, int slot, int vector) {
  const int source = wires[push.sources + gate * ARITY + slot];
  if (SHARES_TABLES != 0 && source < 0) return vec4(0);
  return activations[(push.in_row + source) * push.vectors + vector];
}

// A reader of an input is a gate and, in the lowest bits, which of its inputs reads it.
const int SLOT_BITS = 3;

int reader_gate(int reader) { return reader >> SLOT_BITS; }
int reader_slot(int reader) { return reader & ((1 << SLOT_BITS) - 1); }
