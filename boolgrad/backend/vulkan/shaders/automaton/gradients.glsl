// The gradients of a tile's outputs, and the backward pass of perception to its patches. Needs
// `automaton/tile.glsl` and the buffers `states`, `acts`, `target`, `read` and `sums`.

float total(vec4 of) {
  precise const float sum = (of.x + of.y) + (of.z + of.w);
  return sum;
}

/// The contribution of four cells to the sums of a gate.
vec4 products(vec4 a, vec4 b, vec4 g) {
  const vec4 ga = g * a;
  return vec4(total(g), total(ga), total(g * b), total(ga * b));
}

/// Adds that contribution to the previous sums.
void add_to_sums(int at, vec4 before, vec4 a, vec4 b, vec4 g) {
  precise const vec4 sum = before + products(a, b, g);
  sums[at] = sum;
}

/// The previous sums.
vec4 sum_before(int at, bool is_new) { return is_new ? vec4(0) : sums[at]; }

/// The gradient of a value: the sum of its edges, in a fixed order. Rows of edges are `stride`
/// apart.
vec4 gathered(uint rows, int rest, int edges, int stride) {
  precise vec4 g =
      WORK(edges + int(rows & 0xFFFFu) * stride) + WORK(edges + int(rows >> 16) * stride);
  if (rest >= 0) {
    const uint further = table[REST + rest];
    const int first = int(further & 0xFFFFu);
    for (int i = 0; i < int(further >> 16); ++i) g += WORK(edges + (first + i) * stride);
  }
  return g;
}

int edges_of(int layer) { return even_or_odd(layer, EVEN_EDGES, ODD_EDGES); }
int perceive_edges_of(int layer) {
  return even_or_odd(layer, EVEN_PERCEIVE_EDGES, ODD_PERCEIVE_EDGES);
}

/// The gradient of a row that the update reads.
vec4 update_input_gradient(int row) {
  return gathered(table[INPUT_READS + 2 * row], int(table[INPUT_READS + 2 * row + 1]),
                  edges_of(PERCEIVE_LAYERS), 1);
}

/// The gradient that a channel of a cell receives from its neighbours, summed in a fixed order.
float returned_gradient(int c, int k) {
  float parts[NEIGHBOURHOOD];
  [[unroll]] for (int row = 0; row < NEIGHBOURHOOD; ++row) {
    // A cell at offset d from its reader has that reader at offset -d.
    const int from = around[int(table[POSITIONS + NEIGHBOURHOOD + row]) * 4 + k];
    parts[row] = from < 0 ? 0.0 : read[now.read_from + (from * NEIGHBOURHOOD + row) * CHANNELS + c];
  }
  precise float g = 0.0;
  [[unroll]] for (int row = 0; row < NEIGHBOURHOOD; ++row) g += parts[row];
  return g;
}

/// The gradient of the loss of a state.
float loss_gradient(int state, int c, int cell) {
  if (c >= push.loss_channels || cell >= push.cells) return 0.0;
  const float wanted = target[cell * push.loss_channels + c];
  if (wanted > 1.0) return 0.0;  // `any_value`
  return loss_slope(push.gamma, states[state + cell * CHANNELS + c], wanted);
}

/// Writes the gradients of the update's outputs as edges. Gradients of cells that did not fire go
/// to `leftover`.
void begin_backward(int tile) {
  const int upstream = edges_of(LAYERS) + 1;
  const bool is_last = now.step + 1 == push.steps;
  const bool has_loss = SEVERAL_LOSSES != 0 && now.step + push.loss_steps >= push.steps;
  for (int i = thread(); i < 4 * CHANNELS; i += THREADS) {
    const int c = i % CHANNELS;
    const int k = i / CHANNELS;
    float g = is_last ? loss_gradient(push.last, c, tile * 4 + k) : returned_gradient(c, k);
    if (has_loss && !is_last) g += loss_gradient(now.to, c, tile * 4 + k);
    const bool fired = fires[k] != 0;
    WORK(upstream + c)[k] = fired ? g : 0.0;
    WORK(LEFTOVER + c)[k] = fired ? 0.0 : g;
  }
  if (thread() == 0) {  // row 0 of the edges stays zero
    WORK(EVEN_EDGES) = vec4(0);
    WORK(ODD_EDGES) = vec4(0);
  }
  sync();
}

// Trees process two cells at a time, a column, in the backward pass. Four would need too many
// registers.
vec2 column_of(vec4 four, int column) { return (column & 1) != 0 ? four.zw : four.xy; }

vec2 gate(vec4 c, vec2 a, vec2 b) {
  return fma(fma(vec2(c.w), a, vec2(c.z)), b, fma(vec2(c.y), a, vec2(c.x)));
}

vec4 products(vec2 a, vec2 b, vec2 g) {
  const vec2 ga = g * a;
  const vec2 gb = g * b;
  const vec2 gab = ga * b;
  precise const vec4 sums_of_two = vec4(g.x, ga.x, gb.x, gab.x) + vec4(g.y, ga.y, gb.y, gab.y);
  return sums_of_two;
}

/// As for four cells.
void evaluate_tree(int kernel, vec2 x[9], out vec2 y[15]) {
  [[unroll]] for (int i = 0; i < 8; ++i) {
    y[i] = gate(coefficients[i * KERNELS + kernel], x[i], x[8]);
  }
  [[unroll]] for (int i = 8; i < 15; ++i) {
    y[i] = vec2(0);
    if (i < NODES) {
      y[i] = gate(coefficients[i * KERNELS + kernel], y[2 * i - 16], y[2 * i - 15]);
    }
  }
}

/// Adds to the sums of the nodes of a kernel from `first` on. All are read before any is written,
/// so that the thread waits for memory only once.
void add_to_tree_sums(int first, int count, int kernel, int column, vec4 added[8], bool are_new) {
  const int sums_at = group() * SUMS + kernel * SUM_COLUMNS + column;
  vec4 before[8];
  [[unroll]] for (int i = 0; i < 8; ++i) {
    if (i < count) before[i] = sum_before(sums_at + (first + i) * KERNELS * SUM_COLUMNS, are_new);
  }
  [[unroll]] for (int i = 0; i < 8; ++i) {
    precise const vec4 sum = before[i] + added[i];
    if (i < count) sums[sums_at + (first + i) * KERNELS * SUM_COLUMNS] = sum;
  }
}

/// The backward pass of a group of kernels for one column: adds to their sums and returns the
/// gradients of the patch.
void trees_backward(int kernel_group, int column, int kept, bool sums_are_new,
                    out vec2 of_patch[9]) {
  const int c = column / 2;
  vec2 x[9];
  [[unroll]] for (int row = 0; row < 9; ++row) {
    x[row] = column_of(acts[kept + row * CHANNELS + c], column);
  }
  precise vec2 total[9];
  [[unroll]] for (int row = 0; row < 9; ++row) total[row] = vec2(0);
  for (int kernel = kernel_group; kernel < KERNELS; kernel += KERNEL_GROUPS) {
    vec2 y[15];
    evaluate_tree(kernel, x, y);
    vec2 g[15];
    [[unroll]] for (int s = 0; s < 2; ++s) {
      if (s >= TREE_OUTPUTS) continue;
      const vec4 came = update_input_gradient((1 + s * KERNELS + kernel) * CHANNELS + c);
      if (TREE_OUTPUTS == 1) g[14] = column_of(came, column);
      else g[12 + s] = column_of(came, column);
    }
    vec4 added[8];
    [[unroll]] for (int node = 14; node >= 8; --node) {
      if (node >= NODES) continue;
      const vec4 f = coefficients[node * KERNELS + kernel];
      const vec2 a = y[2 * node - 16];
      const vec2 b = y[2 * node - 15];
      g[2 * node - 16] = g[node] * fma(vec2(f.w), b, vec2(f.y));
      g[2 * node - 15] = g[node] * fma(vec2(f.w), a, vec2(f.z));
      added[node - 8] = products(a, b, g[node]);
    }
    add_to_tree_sums(8, NODES - 8, kernel, column, added, sums_are_new);
    [[unroll]] for (int node = 7; node >= 0; --node) {
      const vec4 f = coefficients[node * KERNELS + kernel];
      total[node] = fma(g[node], fma(vec2(f.w), x[8], vec2(f.y)), total[node]);
      total[8] = fma(g[node], fma(vec2(f.w), x[node], vec2(f.z)), total[8]);
      added[node] = products(x[node], x[8], g[node]);
    }
    add_to_tree_sums(0, 8, kernel, column, added, sums_are_new);
  }
  of_patch = total;
}

/// Stages the gradients of a patch, added to those already staged by others.
void stage_patch_gradients(int kernel_group, int column, bool is_first, vec2 of_patch[9]) {
  const int at = STAGING + kernel_group % STAGED_GROUPS * NEIGHBOURHOOD * CHANNELS + column / 2;
  const int cell = column % 2 * 2;
  [[unroll]] for (int row = 0; row < 9; ++row) {
    precise vec2 staged = of_patch[row];
    if (!is_first) {
      const vec4 before = WORK(at + row * CHANNELS);
      staged = column_of(before, column) + staged;
    }
    WORK(at + row * CHANNELS)[cell] = staged.x;
    WORK(at + row * CHANNELS)[cell + 1] = staged.y;
  }
}

/// A thread has one column and one group of kernels. If their gradients do not fit at the same
/// time, they are staged in rounds.
void perceive_trees_backward(int kept, bool sums_are_new) {
  vec2 of_patch[9];
  if (KERNEL_GROUPS * SUM_COLUMNS > THREADS) {  // then there is only one kernel group
    for (int column = thread(); column < SUM_COLUMNS; column += THREADS) {
      trees_backward(0, column, kept, sums_are_new, of_patch);
      stage_patch_gradients(0, column, true, of_patch);
    }
    sync();
    return;
  }
  const int kernel_group = thread() / SUM_COLUMNS;
  const int column = thread() % SUM_COLUMNS;
  if (kernel_group < KERNEL_GROUPS) {
    trees_backward(kernel_group, column, kept, sums_are_new, of_patch);
  }
  for (int first = 0; first < KERNEL_GROUPS; first += STAGED_GROUPS) {
    if (kernel_group >= first && kernel_group < min(first + STAGED_GROUPS, KERNEL_GROUPS)) {
      stage_patch_gradients(kernel_group, column, first == 0, of_patch);
    }
    sync();
  }
}

void perceive_layers_backward(int kept, bool sums_are_new) {
  for (int i = thread(); i < CHANNELS; i += THREADS) {  // row 0 of the edges stays zero
    WORK(EVEN_PERCEIVE_EDGES + i) = vec4(0);
    WORK(ODD_PERCEIVE_EDGES + i) = vec4(0);
  }
  sync();
  for (int l = PERCEIVE_LAYERS - 1; l >= 0; --l) {
    const uvec4 layer = layer_at(l);
    const int x = kept + int(layer.z);
    const int below = perceive_edges_of(l);
    for (int i = thread(); i < int(layer.x) * CHANNELS; i += THREADS) {
      const int of = i / CHANNELS;
      const int c = i % CHANNELS;
      const int position = int(layer.y) + of;
      const uvec4 of_gate = wires[position];
      const vec4 f = coefficients[position];
      const vec4 a = acts[x + int(of_gate.x & 0xFFFFu) * CHANNELS + c];
      const vec4 b = acts[x + int(of_gate.x >> 16) * CHANNELS + c];
      vec4 g;
      if (l + 1 == PERCEIVE_LAYERS) g = update_input_gradient((1 + of) * CHANNELS + c);
      else g = gathered(of_gate.z, int(of_gate.w), perceive_edges_of(l + 1) + c, CHANNELS);
      WORK(below + int(of_gate.y & 0xFFFFu) * CHANNELS + c) = g * fma(vec4(f.w), b, vec4(f.y));
      WORK(below + int(of_gate.y >> 16) * CHANNELS + c) = g * fma(vec4(f.w), a, vec4(f.z));
      const int at = group() * SUMS + position * CHANNELS + c;
      add_to_sums(at, sum_before(at, sums_are_new), a, b, g);
    }
    sync();
  }
}

/// The gradient of a patch row, before the contribution of the update itself to the cell.
vec4 patch_gradient(int row, int c) {
  if (TREE_OUTPUTS == 0) {
    return gathered(table[PATCH_READS + 2 * row], int(table[PATCH_READS + 2 * row + 1]),
                    perceive_edges_of(0) + c, CHANNELS);
  }
  precise vec4 total = vec4(0);
  for (int i = 0; i < STAGED_GROUPS; ++i) {
    total += WORK(STAGING + (i * NEIGHBOURHOOD + row) * CHANNELS + c);
  }
  return total;
}

void store_patch_gradients(int tile) {
  for (int i = thread(); i < NEIGHBOURHOOD * CHANNELS; i += THREADS) {
    const int row = i / CHANNELS;
    const int c = i % CHANNELS;
    precise vec4 g = patch_gradient(row, c);
    if (row == OWN_ROW) g += update_input_gradient(c) + WORK(LEFTOVER + c);
    [[unroll]] for (int k = 0; k < 4; ++k) {
      const int cell = tile * 4 + k;
      if (cell >= push.cells) continue;
      read[now.read_to + (cell * NEIGHBOURHOOD + row) * CHANNELS + c] = g[k];
    }
  }
}
