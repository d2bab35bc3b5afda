// One step of the cells of a tile: perception and update, on floats or on words of 32 bits. Needs
// WORD and FOUR, the buffers `coefficients`, `states` and `acts` and, with SCRATCH, `work` in
// coherent device memory.
#extension GL_EXT_control_flow_attributes : require

#ifdef SCRATCH
layout(std430, binding = 10) coherent buffer Scratch { FOUR scratch[]; };
#define WORK(row) scratch[group() * WORK_ROWS + (row)]
#else
shared FOUR work[WORK_ROWS];
#define WORK(row) work[row]
#endif

layout(std430, binding = 5) readonly buffer Fire { uint fire[]; };  // bytes

shared uint fires[4];  // 0 or 1 for a float, one bit per cell for a word

/// Workgroup barrier. Work memory written before is visible after.
void sync() {
#ifdef SCRATCH
  memoryBarrierBuffer();
#endif
  barrier();
}

bool fires_in(int step, int cell) {
  if (arguments.fire_mode == 0) return true;
  const uvec2 index = product_plus(uint(step), arguments.sampled_cells, uint(cell));
  if (arguments.fire_mode == 2) return (fire[index.x >> 2] >> (8u * (index.x & 3u)) & 0xFFu) != 0;
  return is_sampled(arguments.seed, arguments.fire_stream, arguments.draw, index,
                    arguments.fire_always, arguments.fire_below);
}

#ifdef HARD

layout(std430, binding = 19) readonly buffer Around { uint around_masks[]; };

uvec4 gate(uvec4 c, uvec4 a, uvec4 b) { return (((c.w & a) ^ c.z) & b) ^ (c.y & a) ^ c.x; }

void find_neighbours(int tile) {
  if (thread() < 4) fires[thread()] = arguments.fire_mode == 0 ? ~0u : 0u;
  barrier();
  if (arguments.fire_mode == 0) return;
  for (int i = thread(); i < 128; i += THREADS) {
    const int cell = tile * 128 + i;
    if (cell < push.all_cells && fires_in(now.step, cell)) {
      atomicOr(fires[i >> 5], 1u << (i & 31));
    }
  }
}

uint state_word(int word, int c) {
  return word >= 0 && word < push.cells ? states[now.from + word * CHANNELS + c] : 0u;
}

/// 32 bits starting at cell `cell`, which may be before the first or after the last.
uint bits_from(int cell, int c) {
  const int bit = cell & 31;
  const uint low = state_word(cell >> 5, c);
  if (bit == 0) return low;
  return low >> bit | state_word((cell >> 5) + 1, c) << (32 - bit);
}

/// The neighbours of 32 consecutive cells for one patch row. They are consecutive too, except at
/// the border, where cells see zeros or, on a torus, the other side. The masks select the cells for
/// each case.
uint neighbour_word(int word, int row, int c) {
  const int position = int(table[POSITIONS + row]);
  const int dx = position % 3 - 1;
  const int dy = position / 3 - 1;
  const int neighbour = word * 32 + dy * push.width + dx;
  if (PERIODIC == 0) {
    return bits_from(neighbour, c) & around_masks[word * NEIGHBOURHOOD + row];
  }
  uint found = 0;
  for (int turn = 0; turn < 4; ++turn) {
    const uint mask = around_masks[(word * NEIGHBOURHOOD + row) * 4 + turn];
    if (mask == 0) continue;
    const int from = neighbour - ((turn & 1) != 0 ? dx * push.width : 0) -
                     ((turn & 2) != 0 ? dy * push.grid_cells : 0);
    found |= bits_from(from, c) & mask;
  }
  return found;
}

uvec4 patch_row(int tile, int row, int c) {
  uvec4 value = uvec4(0);
  for (int k = 0; k < 4; ++k) {
    if (tile * 4 + k < push.cells) value[k] = neighbour_word(tile * 4 + k, row, c);
  }
  return value;
}

/// The value of a word after the step; `at` is its offset before. The old value is only read if
/// some cells do not fire.
uint next_value(int k, uint updated, int at) {
  if (fires[k] == ~0u) return updated;
  return (updated & fires[k]) | (states[at] & ~fires[k]);
}

#else

shared int around[4 * NEIGHBOURHOOD];  // the cell for each row of a patch, or -1
shared bool rounds[4];

vec4 gate(vec4 c, vec4 a, vec4 b) {
  return fma(fma(vec4(c.w), a, vec4(c.z)), b, fma(vec4(c.y), a, vec4(c.x)));
}

int neighbour_cell(int cell, int position) {
  int x = cell % push.width + position % 3 - 1;
  int y = cell / push.width % push.height + position / 3 - 1;
  if (PERIODIC != 0) {
    x = (x + push.width) % push.width;
    y = (y + push.height) % push.height;
  }
  if (x < 0 || x >= push.width || y < 0 || y >= push.height) return -1;
  return cell / push.grid_cells * push.grid_cells + y * push.width + x;
}

bool is_rounded(int cell) {
  return arguments.rounds_states != 0 && now.step + 1 < push.steps &&
         is_sampled(uvec2(arguments.hard_seed_low, arguments.hard_seed_high), arguments.hard_stream,
                    arguments.hard_step,
                    product_plus(uint(now.step), arguments.sampled_cells, uint(cell)),
                    arguments.round_always, arguments.round_below);
}

/// Which cells of a tile fire in a step, and which are rounded after it.
void sample_fires(int tile) {
  const int k = thread();
  if (k >= 4) return;
  const int cell = tile * 4 + k;
  const bool is_there = cell < push.cells;
  fires[k] = is_there && fires_in(now.step, cell) ? 1 : 0;
  rounds[k] = is_there && is_rounded(cell);
}

/// Finds the neighbours of a tile's cells, and which cells fire.
void find_neighbours(int tile) {
  for (int i = thread(); i < 4 * NEIGHBOURHOOD; i += THREADS) {
    const int cell = tile * 4 + (i & 3);
    around[i] = cell < push.cells ? neighbour_cell(cell, int(table[POSITIONS + (i >> 2)])) : -1;
  }
  sample_fires(tile);
}

vec4 patch_row(int tile, int row, int c) {
  vec4 value = vec4(0);
  [[unroll]] for (int k = 0; k < 4; ++k) {
    const int from = around[row * 4 + k];
    if (from >= 0) value[k] = states[now.from + from * CHANNELS + c];
  }
  return value;
}

/// The value of a cell after the step; `at` is its offset before. Keeps what rounding has moved
/// beyond 0 and 1 from growing, as on the CPU. NaN stays NaN.
float next_value(int k, float updated, int at) {
  if (fires[k] == 0) return states[at];
  if (rounds[k]) return updated > 0.5 ? 1.0 : 0.0;
  return updated < 0.0 ? 0.0 : updated > 1.0 ? 1.0 : updated;
}

#endif

int even_or_odd(int number, int even, int odd) { return (number & 1) != 0 ? odd : even; }

/// Row offset of the inputs of layer `layer` of the update.
int inputs_of(int layer) { return even_or_odd(layer - PERCEIVE_LAYERS, EVEN_INPUTS, ODD_INPUTS); }

/// Number of gates, first gate, row of the inputs among the activations, and number of inputs.
shared uvec4 layers[LAYERS];

/// Call once, before a `sync`.
void fetch_layers() {
  for (int l = thread(); l < LAYERS; l += THREADS) layers[l] = wires[GATES + l];
}

uvec4 layer_at(int layer) { return layers[layer]; }

/// The position of a thread's first gate of a layer. Threads without a gate use the last one.
int position_in(uvec4 layer) { return int(layer.y) + min(thread(), int(layer.x) - 1); }

void keep_act(int kept, int row, FOUR value) {
#ifdef KEEPS
  if (kept >= 0) acts[kept + row] = value;
#endif
}

/// Fills the patches, and the cells' own channels for the update. `kept` is the first row of the
/// tile's kept activations, or -1.
void fill_patch(int tile, int kept) {
  const int own_kept = int(layer_at(PERCEIVE_LAYERS).z);
  for (int i = thread(); i < NEIGHBOURHOOD * CHANNELS; i += THREADS) {
    const int row = i / CHANNELS;
    const int c = i % CHANNELS;
    const FOUR value = patch_row(tile, row, c);
    WORK(PATCH + i) = value;
    keep_act(kept, i, value);
    if (row == OWN_ROW) {
      WORK(EVEN_INPUTS + c) = value;
      keep_act(kept, own_kept + c, value);
    }
  }
  sync();
}

const int NODES = TREE_OUTPUTS == 1 ? 15 : 14;

/// A kernel of 8, 4, 2 (and 1) gates: node i < 8 reads patch row i and the cell itself, node i >= 8
/// reads nodes 2 (i - 8) and 2 (i - 8) + 1.
void evaluate_tree(int kernel, FOUR x[9], out FOUR y[15]) {
  [[unroll]] for (int i = 0; i < 8; ++i) {
    y[i] = gate(coefficients[i * KERNELS + kernel], x[i], x[8]);
  }
  [[unroll]] for (int i = 8; i < 15; ++i) {
    y[i] = FOUR(0);
    if (i < NODES) {
      y[i] = gate(coefficients[i * KERNELS + kernel], y[2 * i - 16], y[2 * i - 15]);
    }
  }
}

void perceive_trees(int kept) {
  const int inputs_kept = int(layer_at(PERCEIVE_LAYERS).z);
  for (int i = thread(); i < KERNELS * CHANNELS; i += THREADS) {
    const int kernel = i / CHANNELS;
    const int c = i % CHANNELS;
    FOUR x[9];
    [[unroll]] for (int row = 0; row < 9; ++row) x[row] = WORK(PATCH + row * CHANNELS + c);
    FOUR y[15];
    evaluate_tree(kernel, x, y);
    [[unroll]] for (int s = 0; s < 2; ++s) {
      if (s >= TREE_OUTPUTS) continue;
      const FOUR value = TREE_OUTPUTS == 1 ? y[14] : y[12 + s];
      const int row = (1 + s * KERNELS + kernel) * CHANNELS + c;
      WORK(EVEN_INPUTS + row) = value;
      keep_act(kept, inputs_kept + row, value);
    }
  }
  sync();
}

void perceive_layers(int kept) {
  for (int l = 0; l < PERCEIVE_LAYERS; ++l) {
    const uvec4 layer = layer_at(l);
    const bool is_last = l + 1 == PERCEIVE_LAYERS;
    const int x = l == 0 ? PATCH : even_or_odd(l - 1, EVEN_PERCEIVED, ODD_PERCEIVED);
    const int y = is_last ? EVEN_INPUTS + CHANNELS : even_or_odd(l, EVEN_PERCEIVED, ODD_PERCEIVED);
    const int y_kept = int(layer_at(l + 1).z) + (is_last ? CHANNELS : 0);
    for (int i = thread(); i < int(layer.x) * CHANNELS; i += THREADS) {
      const int position = int(layer.y) + i / CHANNELS;
      const int c = i % CHANNELS;
      const uint sources = wires[position].x;
      const FOUR value =
          gate(coefficients[position], WORK(x + int(sources & 0xFFFFu) * CHANNELS + c),
               WORK(x + int(sources >> 16) * CHANNELS + c));
      WORK(y + i) = value;
      keep_act(kept, y_kept + i, value);
    }
    sync();
  }
}

// Prefetched sources and coefficients of a thread's first gates of some layers of the update.
uint fetched_sources[FETCHED];
FOUR fetched_coefficients[FETCHED];

void fetch_gates(int first) {
  [[unroll]] for (int i = 0; i < FETCHED; ++i) {
    const int position = position_in(layer_at(min(first + i, LAYERS - 1)));
    fetched_sources[i] = wires[position].x;
    fetched_coefficients[i] = coefficients[position];
  }
}

void take_layer(int l, uint sources, FOUR c, int kept) {
  const uvec4 layer = layer_at(l);
  const int x = inputs_of(l);
  const int y = inputs_of(l + 1);
  for (int of = thread(); of < int(layer.x); of += THREADS) {
    if (of != thread()) {
      sources = wires[int(layer.y) + of].x;
      c = coefficients[int(layer.y) + of];
    }
    const FOUR value = gate(c, WORK(x + int(sources & 0xFFFFu)), WORK(x + int(sources >> 16)));
    WORK(y + of) = value;
    if (l + 1 < LAYERS) keep_act(kept, int(layer_at(l + 1).z) + of, value);
  }
  sync();
}

/// Threads take the gates of a layer in turn, four cells each. The first gates have been
/// prefetched.
void update_layers(int kept) {
  for (int first = PERCEIVE_LAYERS; first < LAYERS; first += FETCHED) {
    if (first > PERCEIVE_LAYERS) fetch_gates(first);
    [[unroll]] for (int i = 0; i < FETCHED; ++i) {
      if (first + i < LAYERS) {
        take_layer(first + i, fetched_sources[i], fetched_coefficients[i], kept);
      }
    }
  }
}

/// From the states before the step to the outputs of the update.
void forward_tile(int tile, int kept) {
  fetch_gates(PERCEIVE_LAYERS);
  fill_patch(tile, kept);
  if (TREE_OUTPUTS > 0) perceive_trees(kept);
  else perceive_layers(kept);
  update_layers(kept);
}

#ifndef READS_STATES
/// Writes the states after the step.
void store_state(int tile) {
  const int outputs = inputs_of(LAYERS);
  for (int i = thread(); i < 4 * CHANNELS; i += THREADS) {
    const int c = i % CHANNELS;
    const int k = i / CHANNELS;
    const int cell = tile * 4 + k;
    if (cell >= push.cells) continue;
    const int at = cell * CHANNELS + c;
    states[now.to + at] = next_value(k, WORK(outputs + c)[k], now.from + at);
  }
  sync();
}
#endif
