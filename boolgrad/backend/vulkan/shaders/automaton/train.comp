// All steps forward and back in one dispatch, whose groups wait for one another after each. Every
// group takes its tiles in the same order in each step; activations of all steps are kept.
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

// In this order: each needs those before.
#include "automaton/tile.glsl"

#include "automaton/wait.glsl"

#include "automaton/back.glsl"

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

/// Looks around, unless a group's only tile was looked at before.
void look_at(int tile, bool is_first) {
  if (has_one_tile() && !is_first) return;
  look_around(tile);
  sync();
}

bool draws_again;  // who fires or is rounded differs from step to step

/// Who fires in the step that follows, while others are waited for.
void look_ahead(int step) {
  if (!has_one_tile() || !draws_again) return;
  go_to(step);
  draw_fires(group());
}

void take_step(int step) {
  go_to(step);
  for (int tile = group(); tile < tiles(); tile += push.slots) {
    look_at(tile, step == 0);
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
    look_at(tile, false);
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
  draws_again = arguments.fire_mode != 0 || arguments.rounds_states != 0;
  for (int step = 0; step < push.steps; ++step) {
    take_step(step);
    if (step + 1 == push.steps) break;
    look_ahead(step + 1);
    if (!wait_for_all()) return;
  }
  // The last states of a group's cells are judged by the group itself.
  sync_buffers();
  for (int step = push.steps - 1; step >= 0; --step) {
    take_step_back(step);
    if (step == 0) break;
    look_ahead(step - 1);
    if (!wait_for_all()) return;
  }
  leave_held_sums();
}
