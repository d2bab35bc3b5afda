// The update for threads that hold their gates from the first step to the last: one gate of each
// wide layer, and one gate of the narrow layers after them. The wires of those gates and their
// gradient sums stay in registers. Coefficients do not fit and are prefetched some layers ahead.
//
// Arrays stay in registers only if they are indexed by compile-time constants; hence a macro over
// the wide layers instead of a loop. The host guarantees that no layer has more gates than a
// workgroup has threads, and that edges are placed as described by `RulePlan::edges_are_in_place`.

const int MAX_HELD = 24;
// clang-format off
#define EACH_HELD(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) \
  DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23)
#define EACH_HELD_BACKWARD(DO) \
  DO(23) DO(22) DO(21) DO(20) DO(19) DO(18) DO(17) DO(16) DO(15) DO(14) DO(13) DO(12) \
  DO(11) DO(10) DO(9) DO(8) DO(7) DO(6) DO(5) DO(4) DO(3) DO(2) DO(1) DO(0)
// clang-format on

const int FIRST_NARROW = PERCEIVE_LAYERS + HELD;
const uint READ_THRICE = 0x8000u;  // a bit that row numbers do not use

// From the wires: rows of both inputs, of the edges to them, and of the first two edges of the
// output.
uvec3 held_wires[MAX_HELD];
vec4 held_c[MAX_HELD + 2], held_a[MAX_HELD], held_b[MAX_HELD], held_sums[MAX_HELD];
int narrow_layer;  // layer of the thread's narrow gate; LAYERS if it has none
uvec3 narrow_wires;
vec4 narrow_c, narrow_sums;

bool has_gate(int layer) { return thread() < int(layer_at(layer).x); }

uvec3 wires_to_hold(int position) {
  const uvec4 all = wires[position];
  return uvec3(all.x | (int(all.w) >= 0 ? READ_THRICE : 0u), all.yz);
}

int first_source(uvec3 of) { return int(of.x & 0x7FFFu); }
int second_source(uvec3 of) { return int(of.x >> 16); }

vec4 held_coefficients(int held) {
  return coefficients[position_in(layer_at(PERCEIVE_LAYERS + held))];
}

/// The position of a thread's narrow gate.
int narrow_position() {
  return narrow_layer == LAYERS ? GATES - 1 : int(layer_at(FIRST_NARROW).y) + thread();
}

void hold_narrow_gate() {
  narrow_layer = LAYERS;
  if (FIRST_NARROW < LAYERS) {
    const int position = int(layer_at(FIRST_NARROW).y) + thread();
    for (int l = LAYERS - 1; l >= FIRST_NARROW && position < GATES; --l) {
      if (position >= int(layer_at(l).y)) {
        narrow_layer = l;
        break;
      }
    }
  }
  narrow_wires = wires_to_hold(narrow_position());
  narrow_c = coefficients[narrow_position()];
  narrow_sums = vec4(0);
}

/// Loads the gates that threads hold. Call once.
void hold_gates() {
#define HOLD(n)                                                                \
  if (n < HELD) {                                                              \
    held_wires[n] = wires_to_hold(position_in(layer_at(PERCEIVE_LAYERS + n))); \
    held_sums[n] = vec4(0);                                                    \
  }
  EACH_HELD(HOLD)
#undef HOLD
  hold_narrow_gate();
}

// ------------------------------------------------------------------ forward

/// Computes gate `of` of a layer, and keeps its value.
void compute_held_gate(int l, int of, uvec3 wires_of, vec4 c, int kept) {
  const vec4 value = gate(c, WORK(inputs_of(l) + first_source(wires_of)),
                          WORK(inputs_of(l) + second_source(wires_of)));
  WORK(inputs_of(l + 1) + of) = value;
  if (l + 1 < LAYERS) acts[kept + int(layer_at(l + 1).z) + of] = value;
}

void update_held_layers(int kept) {
  if (HELD > 0) held_c[0] = held_coefficients(0);
  if (HELD > 1) held_c[1] = held_coefficients(1);
#define TAKE(n)                                                                      \
  if (n < HELD) {                                                                    \
    if (n + 2 < HELD) held_c[n + 2] = held_coefficients(n + 2);                      \
    const int l = PERCEIVE_LAYERS + n;                                               \
    if (has_gate(l)) compute_held_gate(l, thread(), held_wires[n], held_c[n], kept); \
    sync();                                                                          \
  }
  EACH_HELD(TAKE)
#undef TAKE
  for (int l = FIRST_NARROW; l < LAYERS; ++l) {
    if (narrow_layer == l) {
      compute_held_gate(l, narrow_position() - int(layer_at(l).y), narrow_wires, narrow_c, kept);
    }
    sync();
  }
}

// ------------------------------------------------------------------ backward

/// Loads the kept inputs and the coefficients of the thread's gate of a wide layer. With staging,
/// loads the rows of the thread instead of the gate's inputs: these are contiguous in memory.
void fetch_held_inputs(int held, uvec3 wires_of, int kept, out vec4 c, out vec4 a, out vec4 b) {
  const uvec4 layer = layer_at(PERCEIVE_LAYERS + held);
  const int inputs = kept + int(layer.z);
  const int last = int(layer.w) - 1;
  a = acts[inputs + (STAGES > 0 ? min(thread(), last) : first_source(wires_of))];
  b = vec4(0);
  if (STAGES == 0) b = acts[inputs + second_source(wires_of)];
  else if (held == 0 && STAGE_ROWS > THREADS) b = acts[inputs + min(thread() + THREADS, last)];
  c = held_coefficients(held);
}

int stage_of(int held) { return STAGE + (STAGES == 2 ? (held & 1) * STAGE_ROWS : 0); }

/// Writes the rows of a thread to the staging buffer. Only the first layer may have more inputs
/// than threads.
void stage_rows(int held, vec4 a, vec4 b) {
  if (STAGES == 0) return;
  if (thread() < STAGE_ROWS) WORK(stage_of(held) + thread()) = a;
  if (held == 0 && thread() + THREADS < STAGE_ROWS) WORK(stage_of(held) + thread() + THREADS) = b;
}

/// Reads the inputs of a thread's gate from the staging buffer.
void pick_inputs(int held, uvec3 wires_of, inout vec4 a, inout vec4 b) {
  if (STAGES == 0) return;
  a = WORK(stage_of(held) + first_source(wires_of));
  b = WORK(stage_of(held) + second_source(wires_of));
}

void take_held_gate_back(int l, uvec3 wires_of, vec4 c, vec4 a, vec4 b, inout vec4 sum) {
  const int above = edges_of(l + 1);
  const int below = edges_of(l);
  precise vec4 g = WORK(above + int(wires_of.z & 0xFFFFu)) + WORK(above + int(wires_of.z >> 16));
  if ((wires_of.x & READ_THRICE) != 0) g += WORK(above + 1 + 2 * int(layer_at(l).x));
  WORK(below + int(wires_of.y & 0xFFFFu)) = g * fma(vec4(c.w), b, vec4(c.y));
  WORK(below + int(wires_of.y >> 16)) = g * fma(vec4(c.w), a, vec4(c.z));
  precise const vec4 more = sum + products(a, b, g);
  sum = more;
}

/// From the edges of the update's outputs to those of its inputs. The operands of a layer are
/// fetched three layers ahead.
void update_held_layers_backward(int kept) {
  vec4 narrow_a = vec4(0);
  vec4 narrow_b = vec4(0);
  if (narrow_layer < LAYERS) {
    const int inputs = kept + int(layer_at(narrow_layer).z);
    narrow_a = acts[inputs + first_source(narrow_wires)];
    narrow_b = acts[inputs + second_source(narrow_wires)];
  }
#define FETCH(n) fetch_held_inputs(n, held_wires[n], kept, held_c[n], held_a[n], held_b[n])
#define FETCH_FIRST(n) \
  if (n < HELD && n + 3 >= HELD) FETCH(n);
  EACH_HELD_BACKWARD(FETCH_FIRST)
#undef FETCH_FIRST
  for (int l = LAYERS - 1; l >= FIRST_NARROW; --l) {
    if (narrow_layer == l) {
      take_held_gate_back(l, narrow_wires, narrow_c, narrow_a, narrow_b, narrow_sums);
    }
    sync();
  }
#define STAGE_LAST(n) \
  if (n + 1 == HELD) stage_rows(n, held_a[n], held_b[n]);
  EACH_HELD(STAGE_LAST)
#undef STAGE_LAST
  if (STAGES > 0) sync();
#define TAKE_BACK(n)                                                                        \
  if (n < HELD) {                                                                           \
    const int l = PERCEIVE_LAYERS + n;                                                      \
    pick_inputs(n, held_wires[n], held_a[n], held_b[n]);                                    \
    if (n >= 3) FETCH(max(n - 3, 0));                                                       \
    if (has_gate(l)) {                                                                      \
      take_held_gate_back(l, held_wires[n], held_c[n], held_a[n], held_b[n], held_sums[n]); \
    }                                                                                       \
    if (STAGES == 1) sync();                                                                \
    if (n > 0) stage_rows(max(n - 1, 0), held_a[max(n - 1, 0)], held_b[max(n - 1, 0)]);     \
    sync();                                                                                 \
  }
  EACH_HELD_BACKWARD(TAKE_BACK)
#undef TAKE_BACK
#undef FETCH
}

/// Stores the sums, to be reduced over all workgroups.
void store_held_sums() {
  const int sums_at = group() * SUMS + UPDATE_SUMS;
#define LEAVE(n)                                                                    \
  if (n < HELD && has_gate(PERCEIVE_LAYERS + n)) {                                  \
    sums[sums_at + int(layer_at(PERCEIVE_LAYERS + n).y) + thread()] = held_sums[n]; \
  }
  EACH_HELD(LEAVE)
#undef LEAVE
  if (narrow_layer < LAYERS) sums[sums_at + narrow_position()] = narrow_sums;
}
