// Firing mask of a step: one thread per word. An address gives the bits of four cells; the index
// runs over all grids.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "bits/bits.glsl"
#include "common/random.glsl"

void main() {
  const uint i = push.first + gl_GlobalInvocationID.x;
  if (i >= push.end) return;
  const uint w = i % push.words;
  const uint row = i / push.words;
  const uvec2 seed = uvec2(push.seed_low, push.seed_high);
  const uvec2 begin = product_plus(row, push.width, w * 32);
  const uint cells = min(32u, push.width - w * 32);
  uint word = 0;
  for (uint cell = 0; cell < cells; ++cell) {
    uint carry;
    const uint low = uaddCarry(begin.x, cell, carry);
    const bool is_on = is_sampled(seed, push.stream, push.draw, uvec2(low, begin.y + carry),
                                  push.always, push.below);
    word |= uint(is_on) << cell;
  }
  fire[row * push.pitch + w] = word;
}
