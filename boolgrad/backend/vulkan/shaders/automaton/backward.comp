// One backward step of all cells. With RECOMPUTE, the activations of the step are recomputed; else
// they were kept.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/functions.glsl"
#include "common/loss.glsl"
#include "common/random.glsl"

#define WORD float
#define FOUR vec4
#define READS_STATES
layout(std430, binding = 3) readonly buffer Coefficients { vec4 coefficients[]; };
layout(std430, binding = 4) readonly buffer States { float states[]; };
layout(std430, binding = 6) readonly buffer Target { float target[]; };
#ifdef RECOMPUTE
#define KEEPS
layout(std430, binding = 7) coherent buffer Acts { vec4 acts[]; };
#else
layout(std430, binding = 7) readonly buffer Acts { vec4 acts[]; };
#endif
layout(std430, binding = 8) buffer Read { float read[]; };  // [cells][9][channels], twice
layout(std430, binding = 9) buffer Sums { vec4 sums[]; };   // [slots][SUMS]

// The order matters: each file needs those before it.
#include "automaton/tile.glsl"

#include "automaton/gradients.glsl"

/// What a thread loads for a gate before its gradient is known.
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

/// From the edges of the update's outputs to those of its inputs. The operands of a thread's first
/// gate of a layer are loaded some layers ahead, and its wires as many layers before that.
void update_layers_backward(int kept, bool sums_are_new) {
  const int sums_at = group() * SUMS + UPDATE_SUMS;
  Ready ready[AHEAD];
  uvec4 wires_ahead[AHEAD];
  [[unroll]] for (int i = 0; i < AHEAD; ++i) {
    wires_ahead[i] = wires[position_in(layer_at(max(LAYERS - 1 - i, PERCEIVE_LAYERS)))];
  }
  // Rounds before the first layer only prefetch.
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

void main() {
  now = step_of_dispatch();
  fetch_layers();
  bool sums_are_new = push.begins_sums != 0;
  for (int tile = push.first_tile + group(); tile < push.end_tile; tile += push.slots) {
#ifdef RECOMPUTE
    const int kept = group() * ACTS_ROWS;
#else
    const int kept = now.kept + tile * ACTS_ROWS;
#endif
    find_neighbours(tile);
    sync();
#ifdef RECOMPUTE
    forward_tile(tile, kept);
    memoryBarrierBuffer();
    barrier();
#endif
    begin_backward(tile);
    update_layers_backward(kept, sums_are_new);
    if (TREE_OUTPUTS > 0) perceive_trees_backward(kept, sums_are_new);
    else perceive_layers_backward(kept, sums_are_new);
    if (now.step > 0) store_patch_gradients(tile);
    sums_are_new = false;
    sync();
  }
}
