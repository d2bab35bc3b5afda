// A step back of all cells. Where AGAIN is defined, the activations of the step are computed again;
// else they were kept.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton.glsl"
#include "functions.glsl"
#include "loss.glsl"
#include "random.glsl"

#define WORD float
#define FOUR vec4
layout(std430, binding = 3) readonly buffer Coefficients { vec4 coefficients[]; };
layout(std430, binding = 4) readonly buffer States { float states[]; };
layout(std430, binding = 6) readonly buffer Target { float target[]; };
#ifdef AGAIN
#define KEEPS
layout(std430, binding = 7) coherent buffer Acts { vec4 acts[]; };
#else
layout(std430, binding = 7) readonly buffer Acts { vec4 acts[]; };
#endif
layout(std430, binding = 8) buffer Read { float read[]; };  // [cells][9][channels], twice
layout(std430, binding = 9) buffer Sums { vec4 sums[]; };   // [slots][SUMS]

#include "automaton_tile.glsl"

float total(vec4 of) {
  precise const float sum = (of.x + of.y) + (of.z + of.w);
  return sum;
}

/// What four cells add to the sums of a gate.
vec4 products(vec4 a, vec4 b, vec4 g) {
  const vec4 ga = g * a;
  return vec4(total(g), total(ga), total(g * b), total(ga * b));
}

/// Adds it to what was there before.
void add_to_sums(int at, vec4 before, vec4 a, vec4 b, vec4 g) {
  precise const vec4 sum = before + products(a, b, g);
  sums[at] = sum;
}

/// What was added before.
vec4 sum_before(int at, bool is_new) { return is_new ? vec4(0) : sums[at]; }

/// What was written for a value: its edges, added up in a fixed order. Rows of edges are `stride`
/// long.
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

/// What the neighbours give back to a channel of a cell, in a fixed order.
float returned_gradient(int c, int k) {
  float parts[NEIGHBOURHOOD];
  [[unroll]] for (int row = 0; row < NEIGHBOURHOOD; ++row) {
    // Who reads a cell at a place is the neighbour on the other side.
    const int from = around[int(table[PLACES + NEIGHBOURHOOD + row]) * 4 + k];
    parts[row] =
        from < 0 ? 0.0 : read[push.read_from + (from * NEIGHBOURHOOD + row) * CHANNELS + c];
  }
  precise float g = 0.0;
  [[unroll]] for (int row = 0; row < NEIGHBOURHOOD; ++row) g += parts[row];
  return g;
}

float loss_gradient(int c, int cell) {
  if (c >= push.loss_channels || cell >= push.cells) return 0.0;
  return loss_slope(push.gamma, states[push.last + cell * CHANNELS + c],
                    target[cell * push.loss_channels + c]);
}

/// What comes back to the outputs of the update, as edges; what did not fire is left over.
void begin_backward(int tile) {
  const int upstream = edges_of(LAYERS) + 1;
  const bool is_last = push.step + 1 == push.steps;
  for (int i = thread(); i < 4 * CHANNELS; i += THREADS) {
    const int c = i % CHANNELS;
    const int k = i / CHANNELS;
    const float g = is_last ? loss_gradient(c, tile * 4 + k) : returned_gradient(c, k);
    const bool fired = fires[k] != 0;
    WORK(upstream + c)[k] = fired ? g : 0.0;
    WORK(LEFTOVER + c)[k] = fired ? 0.0 : g;
  }
  if (thread() == 0) {  // the rows of edges that nobody writes
    WORK(EVEN_EDGES) = vec4(0);
    WORK(ODD_EDGES) = vec4(0);
  }
  sync();
}

/// What a thread needs of a gate before the gradient comes.
struct Ready {
  uvec4 of;  // its wires
  vec4 c, a, b, sum;
};

Ready made_ready(uvec4 of, int position, int inputs, int sums_at, bool sums_are_new) {
  return Ready(of, coefficients[position], acts[inputs + int(of.x & 0xFFFFu)],
               acts[inputs + int(of.x >> 16)], sum_before(sums_at + position, sums_are_new));
}

void take_gate_back(int above, int below, Ready ready, int sums_at) {
  const vec4 g = gathered(ready.of.z, int(ready.of.w), above, 1);
  WORK(below + int(ready.of.y & 0xFFFFu)) = g * fma(vec4(ready.c.w), ready.b, vec4(ready.c.y));
  WORK(below + int(ready.of.y >> 16)) = g * fma(vec4(ready.c.w), ready.a, vec4(ready.c.z));
  add_to_sums(sums_at, ready.sum, ready.a, ready.b, g);
}

void take_layer_back(int l, Ready ready, int kept, int sums_at, bool sums_are_new) {
  const uvec4 layer = layer_at(l);
  const int above = edges_of(l + 1);
  const int below = edges_of(l);
  for (int i = thread(); i < int(layer.x); i += THREADS) {
    const int position = int(layer.y) + i;
    if (i != thread()) {
      ready = made_ready(wires[position], position, kept + int(layer.z), sums_at, sums_are_new);
    }
    take_gate_back(above, below, ready, sums_at + position);
  }
  sync();
}

/// From the edges of the outputs to those of the inputs of the update. A thread's first gate of a
/// layer is made ready some layers ahead, and its wires are fetched as many before that.
void update_layers_backward(int kept, bool sums_are_new) {
  const int sums_at = group() * SUMS + PERCEIVE_GATES * CHANNELS - PERCEIVE_GATES;
  Ready ready[AHEAD];
  uvec4 wires_ahead[AHEAD];
  [[unroll]] for (int i = 0; i < AHEAD; ++i) {
    wires_ahead[i] = wires[position_in(layer_at(max(LAYERS - 1 - i, PERCEIVE_LAYERS)))];
  }
  // Rounds before the first layer fetch and take nothing back.
  for (int last = LAYERS - 1 + AHEAD; last >= PERCEIVE_LAYERS; last -= AHEAD) {
    [[unroll]] for (int i = 0; i < AHEAD; ++i) {
      const int l = last - i;
      const uvec4 next_layer = layer_at(max(l - AHEAD, PERCEIVE_LAYERS));
      const Ready next = made_ready(wires_ahead[i], position_in(next_layer),
                                    kept + int(next_layer.z), sums_at, sums_are_new);
      wires_ahead[i] = wires[position_in(layer_at(max(l - 2 * AHEAD, PERCEIVE_LAYERS)))];
      if (l < LAYERS && l >= PERCEIVE_LAYERS) {
        take_layer_back(l, ready[i], kept, sums_at, sums_are_new);
      }
      ready[i] = next;
    }
  }
}

/// Adds to the sums of nodes `first` and on of a kernel. All are read before any is written, so
/// that memory is waited for once.
void add_to_tree_sums(int first, int count, int kernel, int c, vec4 added[8], bool are_new) {
  const int sums_at = group() * SUMS + kernel * CHANNELS + c;
  vec4 before[8];
  [[unroll]] for (int i = 0; i < 8; ++i) {
    if (i < count) before[i] = sum_before(sums_at + (first + i) * KERNELS * CHANNELS, are_new);
  }
  [[unroll]] for (int i = 0; i < 8; ++i) {
    precise const vec4 sum = before[i] + added[i];
    if (i < count) sums[sums_at + (first + i) * KERNELS * CHANNELS] = sum;
  }
}

/// Trees: a thread has a channel and a share of the kernels. Their gradients of the patch are added
/// up by whoever stores them.
void perceive_trees_backward(int kept, bool sums_are_new) {
  for (int i = thread(); i < KERNEL_GROUPS * CHANNELS; i += THREADS) {
    const int c = i % CHANNELS;
    vec4 x[9];
    [[unroll]] for (int row = 0; row < 9; ++row) x[row] = acts[kept + row * CHANNELS + c];
    precise vec4 of_patch[9];
    [[unroll]] for (int row = 0; row < 9; ++row) of_patch[row] = vec4(0);
    for (int kernel = i / CHANNELS; kernel < KERNELS; kernel += KERNEL_GROUPS) {
      vec4 y[15];
      grow_tree(kernel, x, y);
      vec4 g[15];
      [[unroll]] for (int s = 0; s < 2; ++s) {
        if (s >= TREE_OUTPUTS) continue;
        const vec4 came = update_input_gradient((1 + s * KERNELS + kernel) * CHANNELS + c);
        if (TREE_OUTPUTS == 1) g[14] = came;
        else g[12 + s] = came;
      }
      vec4 added[8];
      [[unroll]] for (int node = 14; node >= 8; --node) {
        if (node >= NODES) continue;
        const vec4 f = coefficients[node * KERNELS + kernel];
        const vec4 a = y[2 * node - 16];
        const vec4 b = y[2 * node - 15];
        g[2 * node - 16] = g[node] * fma(vec4(f.w), b, vec4(f.y));
        g[2 * node - 15] = g[node] * fma(vec4(f.w), a, vec4(f.z));
        added[node - 8] = products(a, b, g[node]);
      }
      add_to_tree_sums(8, NODES - 8, kernel, c, added, sums_are_new);
      [[unroll]] for (int node = 7; node >= 0; --node) {
        const vec4 f = coefficients[node * KERNELS + kernel];
        of_patch[node] = fma(g[node], fma(vec4(f.w), x[8], vec4(f.y)), of_patch[node]);
        of_patch[8] = fma(g[node], fma(vec4(f.w), x[node], vec4(f.z)), of_patch[8]);
        added[node] = products(x[node], x[8], g[node]);
      }
      add_to_tree_sums(0, 8, kernel, c, added, sums_are_new);
    }
    [[unroll]] for (int row = 0; row < 9; ++row) {
      WORK(STAGING + (i / CHANNELS * NEIGHBOURHOOD + row) * CHANNELS + c) = of_patch[row];
    }
  }
  sync();
}

void perceive_layers_backward(int kept, bool sums_are_new) {
  for (int i = thread(); i < CHANNELS; i += THREADS) {  // the rows of edges that nobody writes
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

/// The gradient of a row of the patch, before what the update itself gives back to the cell.
vec4 patch_gradient(int row, int c) {
  if (TREE_OUTPUTS == 0) {
    return gathered(table[PATCH_READS + 2 * row], int(table[PATCH_READS + 2 * row + 1]),
                    perceive_edges_of(0) + c, CHANNELS);
  }
  precise vec4 total = vec4(0);
  for (int i = 0; i < KERNEL_GROUPS; ++i) {
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
      read[push.read_to + (cell * NEIGHBOURHOOD + row) * CHANNELS + c] = g[k];
    }
  }
}

void main() {
  fetch_layers();
  bool sums_are_new = push.begins_sums != 0;
  for (int tile = push.first_tile + group(); tile < push.end_tile; tile += push.slots) {
#ifdef AGAIN
    const int kept = group() * ACTS_ROWS;
#else
    const int kept = push.kept + tile * ACTS_ROWS;
#endif
    look_around(tile);
    sync();
#ifdef AGAIN
    forward_tile(tile, kept);
    memoryBarrierBuffer();
    barrier();
#endif
    begin_backward(tile);
    update_layers_backward(kept, sums_are_new);
    if (TREE_OUTPUTS > 0) perceive_trees_backward(kept, sums_are_new);
    else perceive_layers_backward(kept, sums_are_new);
    if (push.step > 0) store_patch_gradients(tile);
    sums_are_new = false;
    sync();
  }
}
