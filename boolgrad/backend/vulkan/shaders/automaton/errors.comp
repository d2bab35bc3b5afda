// For each word of cells: the number of bits that differ from the target, and a mask of the cells
// with errors.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"

layout(std430, binding = 4) readonly buffer States { uint states[]; };
layout(std430, binding = 6) readonly buffer Target { uint target[]; };
layout(std430, binding = 17) writeonly buffer Errors { uvec2 errors[]; };
layout(std430, binding = 18) writeonly buffer Finite { uint finite[]; };
layout(std430, binding = 20) readonly buffer Waiting { uint waiting[]; };

void count_errors(int word) {
  const int there = push.all_cells - word * 32;
  const uint mask = there >= 32 ? ~0u : (1u << there) - 1u;
  uint bits = 0;
  uint cells = 0;
  for (int c = 0; c < push.loss_channels; ++c) {
    const uint off =
        (states[push.last + word * CHANNELS + c] ^ target[word * push.loss_channels + c]) & mask;
    bits += bitCount(off);
    cells |= off;
  }
  errors[word] = uvec2(bits, cells);
}

void main() {
  if (gl_GlobalInvocationID.x == 0) finite[1] = waiting[1];
  const int stride = int(gl_NumWorkGroups.x) * THREADS;
  for (int word = int(gl_GlobalInvocationID.x); word < push.cells; word += stride) {
    count_errors(word);
  }
}
