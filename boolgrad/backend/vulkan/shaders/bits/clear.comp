// Clears a rectangle: one thread per word of its rows, in every channel and grid.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "bits/bits.glsl"

void main() {
  const uint i = push.first + gl_GlobalInvocationID.x;
  if (i >= push.end) return;
  const uint first = push.left / 32;
  const uint columns = (push.left + push.columns + 31) / 32 - first;
  const uint w = first + i % columns;
  const uint y = push.top + i / columns % push.rows;
  const uint grid = i / columns / push.rows;
  const uint left = max(push.left, w * 32) - w * 32;
  const uint right = min(push.left + push.columns, w * 32 + 32) - w * 32;
  now[(grid * push.height + y) * push.pitch + w] &= ~((~0u >> (32 - (right - left))) << left);
}
