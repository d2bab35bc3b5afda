// One step of a hardened automaton: a thread runs the program on words of 32 cells, one after the
// other. Its slots are in shared memory or, in the variant for many slots, in a buffer. Slots of
// neighbouring threads are adjacent.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "bits/bits.glsl"

layout(constant_id = 1) const uint SLOTS = 1;

layout(std430, binding = 2) readonly buffer Sources { ivec4 sources[]; };  // channel, dy, dx, slot
layout(std430, binding = 3) readonly buffer Runs { uvec2 runs[]; };        // kind, count
layout(std430, binding = 4) readonly buffer Steps { uvec4 steps[]; };      // slots: out, a, b, c
layout(std430, binding = 5) readonly buffer Sinks { uvec4 sinks[]; };  // channel, slot, keep, flip

#ifdef SCRATCH
layout(std430, binding = 7) buffer Scratch { uint scratch[]; };
uint at(uint slot) {
  return slot * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
}
#define SLOT(slot) scratch[at(slot)]
#else
shared uint slots[SLOTS * gl_WorkGroupSize.x];
#define SLOT(slot) slots[(slot)*gl_WorkGroupSize.x + gl_LocalInvocationID.x]
#endif

/// The cells at distance `dx` from each cell of word `w` of the row that starts at `row`.
uint shifted_word(uint row, uint w, int dx) {
  const uint own = now[row + w];
  if (dx == 0) return own;
  const uint last = push.words - 1;
  const uint top = (push.width - 1) % 32;
  if (dx < 0) {
    if (w > 0) return own << 1 | now[row + w - 1] >> 31;
    return own << 1 | (push.periodic != 0 ? now[row + last] >> top & 1u : 0u);
  }
  if (w < last) return own >> 1 | now[row + w + 1] << 31;
  return own >> 1 | (push.periodic != 0 ? (now[row] & 1u) << top : 0u);
}

/// An input of the program for word `w` of row `y` of a grid.
uint source_of(ivec4 source, uint item, uint y, uint w) {
  const int height = int(push.height);
  int from = int(y) + source.y;
  if (push.periodic != 0) from = (from + height) % height;
  if (from < 0 || from >= height) return 0u;
  return shifted_word(
      uint(source.x) * push.channel_words + (item * push.height + uint(from)) * push.pitch, w,
      source.z);
}

uint joined(uint kind, uint a, uint b, uint c) {
  uint v;
  switch (kind % 4) {
    case 0: v = a & b; break;
    case 1: v = a & ~b; break;
    case 2: v = a | b; break;
    default: v = a ^ b;
  }
  switch (kind / 4) {
    case 0: return v;
    case 1: return ~v;
    case 2: return v & c;
    case 3: return v & ~c;
    case 4: return ~v & c;
    case 5: return ~v & ~c;
    case 6: return v ^ c;
    default: return ~(v ^ c);
  }
}

void run_program() {
  uint s = 0;
  for (uint r = 0; r < push.runs; ++r) {
    const uvec2 run = runs[r];
    for (const uint end = s + run.y; s < end; ++s) {
      const uvec4 step = steps[s];
      // Only kinds with a third operand read it; others have no slot there.
      const uint c = run.x >= 8 ? SLOT(step.w) : 0u;
      SLOT(step.x) = joined(run.x, SLOT(step.y), SLOT(step.z), c);
    }
  }
}

void write(uvec4 sink, uint item, uint y, uint w) {
  const uint in_channel = (item * push.height + y) * push.pitch + w;
  const uint offset = sink.x * push.channel_words + in_channel;
  // Constants have no slot.
  uint word = (sink.z != 0 ? SLOT(sink.y) : 0u) ^ sink.w;
  if (push.fires != 0) word = (word & fire[in_channel]) | (now[offset] & ~fire[in_channel]);
  next[offset] = word & cells_of(w);
}

void main() {
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = push.first + gl_GlobalInvocationID.x; i < push.end; i += threads) {
    const uint w = i % push.words;
    const uint y = i / push.words % push.height;
    const uint item = i / push.words / push.height;
    for (uint s = 0; s < push.sources; ++s) {
      SLOT(uint(sources[s].w)) = source_of(sources[s], item, y, w);
    }
    run_program();
    for (uint s = 0; s < push.sinks; ++s) write(sinks[s], item, y, w);
  }
}
