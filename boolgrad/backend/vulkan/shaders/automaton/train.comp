// All steps forward and backward in one dispatch, with a barrier across workgroups after each. A
// workgroup takes its tiles in the same order in each step. The activations of all steps are kept.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/functions.glsl"
#include "common/loss.glsl"
#include "common/random.glsl"

#define WORD float
#define FOUR vec4
#define KEEPS
layout(std430, binding = 3) readonly buffer Coefficients { vec4 coefficients[]; };
layout(std430, binding = 4) coherent buffer States { float states[]; };
layout(std430, binding = 6) readonly buffer Target { float target[]; };
layout(std430, binding = 7) coherent buffer Acts { vec4 acts[]; };
layout(std430, binding = 8) coherent buffer Read { float read[]; };
layout(std430, binding = 9) buffer Sums { vec4 sums[]; };

// The order matters: each file needs those before it.
#include "automaton/tile.glsl"

#include "automaton/wait.glsl"

#include "automaton/gradients.glsl"

#include "automaton/held.glsl"

int tiles() { return (push.cells + 3) / 4; }
bool has_one_tile() { return push.slots >= tiles(); }

void go_to(int step) {
  const int words = CHANNELS * push.cells;
  now.step = step;
  now.from = step * words;
  now.to = (step + 1) * words;
  now.read_from = (step + 1) % 2 * NEIGHBOURHOOD * words;
  now.read_to = step % 2 * NEIGHBOURHOOD * words;
  now.kept = step * tiles() * ACTS_ROWS;
}

/// Finds neighbours and firing cells, unless the workgroup has a single tile and has done so.
void prepare_tile(int tile, bool is_first) {
  if (has_one_tile() && !is_first) return;
  find_neighbours(tile);
  sync();
}

bool resamples;  // firing or rounding differs from step to step

/// Samples the firing cells of the next step while waiting for other workgroups.
void prepare_next_step(int step) {
  if (!has_one_tile() || !resamples) return;
  go_to(step);
  sample_fires(group());
}

void take_step(int step) {
  go_to(step);
  for (int tile = group(); tile < tiles(); tile += push.slots) {
    prepare_tile(tile, step == 0);
    const int kept = now.kept + tile * ACTS_ROWS;
    fill_patch(tile, kept);
    perceive_trees(kept);
    update_held_layers(kept);
    store_state(tile);
  }
}

void take_step_back(int step) {
  go_to(step);
  bool sums_are_new = step + 1 == push.steps;
  for (int tile = group(); tile < tiles(); tile += push.slots) {
    prepare_tile(tile, false);
    const int kept = now.kept + tile * ACTS_ROWS;
    begin_backward(tile);
    update_held_layers_backward(kept);
    perceive_trees_backward(kept, sums_are_new);
    if (step > 0) store_patch_gradients(tile);
    sums_are_new = false;
    sync();
  }
}

void main() {
  fetch_layers();
  sync();
  hold_gates();
  resamples = arguments.fire_mode != 0 || arguments.rounds_states != 0;
  for (int step = 0; step < push.steps; ++step) {
    take_step(step);
    if (step + 1 == push.steps) break;
    prepare_next_step(step + 1);
    if (!wait_for_all()) return;
  }
  // A workgroup computes the loss of its own cells.
  sync_buffers();
  for (int step = push.steps - 1; step >= 0; --step) {
    take_step_back(step);
    if (step == 0) break;
    prepare_next_step(step - 1);
    if (!wait_for_all()) return;
  }
  store_held_sums();
}
