// The coefficients of all gates (sixteen threads per gate), and random start states (one thread per
// word). Also resets the barrier across workgroups.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "automaton/automaton.glsl"
#include "common/functions.glsl"
#include "common/random.glsl"

#ifdef HARD
#define WORD uint
#define FOUR uvec4
#else
#define WORD float
#define FOUR vec4
#endif

layout(std430, binding = 3) writeonly buffer Coefficients { FOUR coefficients[]; };
layout(std430, binding = 4) writeonly buffer States { WORD states[]; };
layout(std430, binding = 11) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 12) readonly buffer Masks { float masks[]; };  // then the frozen flags
layout(std430, binding = 20) writeonly buffer Waiting { uint waiting[]; };

#include "common/gates.glsl"
#include "common/hardening.glsl"
#include "common/shared_tables.glsl"

/// Swaps the inputs if the gate reads them in the other order.
FOUR ordered(FOUR polynomial, uint origin) {
  return (origin & SWAPPED_INPUTS) != 0 ? polynomial.xzyw : polynomial;
}

#ifdef HARD

FOUR coefficients_of(int gate, uint origin, Table made) {
  const uint entries = masks[gate] < 0.5 ? 0 : made.hard;
  const uvec4 f = uvec4(0u - (entries & 1u), 0u - (entries >> 1 & 1u), 0u - (entries >> 2 & 1u),
                        0u - (entries >> 3 & 1u));
  return ordered(uvec4(f[0], f[1] ^ f[0], f[2] ^ f[0], f[3] ^ f[2] ^ f[1] ^ f[0]), origin);
}

/// 32 consecutive cells, whose bits may span two random words.
uint start_value(int c, int word) {
  const uvec2 first = product_plus(uint(c), arguments.sampled_cells, uint(word) * 32u);
  uint value = 0;
  for (int part = 0; part < 2; ++part) {
    const uvec2 at = product_plus(1u, uint(part) * 32u, first.x);
    const uvec2 index = uvec2(at.x, first.y + at.y);
    const uvec4 bits = random_bits(arguments.seed, arguments.start_stream, arguments.draw,
                                   shifted_right(index, 7));
    const uint bit = first.x & 31u;
    const uint random = bits[index.x >> 5 & 3u];
    if (part == 0) value = random >> bit;
    else if (bit != 0) value |= random << (32u - bit);
  }
  const int there = push.all_cells - word * 32;
  return there >= 32 ? value : value & ((1u << there) - 1u);
}

#else

float share_of(int gate) {
  const float frozen = HARDENING == HARDENING_FREEZE ? masks[GATES + gate] : 0.0;
  const LayerOfGate layer = layer_of(gate);
  return hardened_share(layer.number, gate - layer.first_gate, frozen);
}

FOUR coefficients_of(int gate, uint origin, Table made) {
  const float share = share_of(gate);
  const float mask = masks[gate];
  const vec4 soft = made.soft * mask;
  const vec4 hard = mask < 0.5 ? vec4(0) : entries_as_floats(made.hard);
  return ordered(polynomial_of(soft + (hard - soft) * share), origin);
}

float start_value(int c, int cell) {
  const uvec2 index = product_plus(uint(c), arguments.sampled_cells, uint(cell));
  const uvec4 bits =
      random_bits(arguments.seed, arguments.start_stream, arguments.draw, shifted_right(index, 7));
  return float(bits[index.x >> 5 & 3u] >> (index.x & 31u) & 1u);
}

#endif

const int GATES_PER_GROUP = THREADS / TABLE_LANES;

/// The gates of a workgroup from `first` on.
void make_coefficients(int first) {
  const int within = thread() / TABLE_LANES;
  const int lane = thread() % TABLE_LANES;
  const uint origin = table[min(first + within, GATES - 1)];
  const int gate = int(origin & ~SWAPPED_INPUTS);
  const Table made = shared_table(gate, within * TABLE_LANES, lane, true);
  if (lane != 0 || first + within >= GATES) return;
  coefficients[first + within] = coefficients_of(gate, origin, made);
}

void main() {
  if (gl_GlobalInvocationID.x < 2) waiting[gl_GlobalInvocationID.x] = 0;
  const int groups = int(gl_NumWorkGroups.x);
  for (int first = group() * GATES_PER_GROUP; first < GATES; first += groups * GATES_PER_GROUP) {
    make_coefficients(first);
    barrier();
  }
  if (arguments.random_starts == 0) return;
  for (int at = int(gl_GlobalInvocationID.x); at < push.cells * CHANNELS; at += groups * THREADS) {
    states[push.from + at] = start_value(at % CHANNELS, at / CHANNELS);
  }
}
