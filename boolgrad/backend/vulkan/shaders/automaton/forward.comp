// One step of all cells: workgroups take tiles of four words in turn.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/random.glsl"

#ifdef HARD
#define WORD uint
#define FOUR uvec4
#else
#define WORD float
#define FOUR vec4
#define KEEPS
layout(std430, binding = 7) writeonly buffer Acts { vec4 acts[]; };
#endif

layout(std430, binding = 3) readonly buffer Coefficients { FOUR coefficients[]; };
layout(std430, binding = 4) buffer States { WORD states[]; };

#include "automaton/tile.glsl"

void main() {
  now = step_of_dispatch();
  fetch_layers();
  for (int tile = push.first_tile + group(); tile < push.end_tile; tile += push.slots) {
    find_neighbours(tile);
    sync();
    forward_tile(tile, now.kept < 0 ? -1 : now.kept + tile * ACTS_ROWS);
    store_state(tile);
  }
}
