// All steps of hardened gates in one dispatch, with a barrier across workgroups after each step.
#version 460
#extension GL_GOOGLE_include_directive : require

#define HARD
#include "automaton/automaton.glsl"
#include "common/random.glsl"

#define WORD uint
#define FOUR uvec4
layout(std430, binding = 3) readonly buffer Coefficients { uvec4 coefficients[]; };
layout(std430, binding = 4) coherent buffer States { uint states[]; };

#include "automaton/tile.glsl"
#include "automaton/wait.glsl"

/// The first and the last state have their own buffers; those in between alternate between two.
int state_before(int step) {
  const int buffer_index = step == 0 ? 0 : step == push.steps ? 3 : 1 + (step & 1);
  return buffer_index * CHANNELS * push.cells;
}

void main() {
  fetch_layers();
  const int tiles = (push.cells + 3) / 4;
  for (int step = 0; step < push.steps; ++step) {
    now.step = step;
    now.from = state_before(step);
    now.to = state_before(step + 1);
    for (int tile = group(); tile < tiles; tile += push.slots) {
      find_neighbours(tile);
      sync();
      forward_tile(tile, -1);
      store_state(tile);
    }
    if (step + 1 < push.steps && !wait_for_all()) return;
  }
}
