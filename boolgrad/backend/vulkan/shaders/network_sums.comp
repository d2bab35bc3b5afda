// The gradients of a layer's coefficients, summed over a chunk of the samples: some threads a gate.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 5) writeonly buffer Sums { vec4 sums[]; };

#include "polynomial.glsl"

// Quads that are summed at once: all products of the first four inputs.
const int BLOCK = QUADS < 4 ? QUADS : 4;

shared vec4 lane_sums[BLOCK * THREADS];

/// Of four samples: the sums of g, g a, g b and g a b.
vec4 products(vec4 g, vec4 a, vec4 b) {
  const vec4 one = vec4(1);
  const vec4 ga = g * a;
  return vec4(dot(g, one), dot(ga, one), dot(g, b), dot(ga, b));
}

/// A thread's sums of the quads from `first` on, into shared memory.
void sum_block(int gate, int first, int begin, int end) {
  precise vec4 sum = vec4(0), sum_c = vec4(0), sum_d = vec4(0), sum_cd = vec4(0);
  for (int vector = begin; vector < end; vector += LANES) {
    vec4 g = output_gradients[gate / push.gates_a_row * push.vectors + vector];
    if (ARITY > 4 && (first & 4) != 0) g *= input_of(gate, 4, vector);
    if (ARITY > 5 && (first & 8) != 0) g *= input_of(gate, 5, vector);
    const vec4 a = input_of(gate, 0, vector);
    vec4 b = vec4(0);
    if (ARITY > 1) b = input_of(gate, 1, vector);
    sum += products(g, a, b);
    if (ARITY < 3) continue;
    const vec4 gc = g * input_of(gate, 2, vector);
    sum_c += products(gc, a, b);
    if (ARITY < 4) continue;
    const vec4 d = input_of(gate, 3, vector);
    sum_d += products(g * d, a, b);
    sum_cd += products(gc * d, a, b);
  }
  lane_sums[thread()] = sum;
  if (ARITY > 2) lane_sums[THREADS + thread()] = sum_c;
  if (ARITY > 3) {
    lane_sums[2 * THREADS + thread()] = sum_d;
    lane_sums[3 * THREADS + thread()] = sum_cd;
  }
}

/// Adds up what the lanes of a gate have, in a fixed order.
void add_lanes(int lane) {
  barrier();
  for (int half_way = LANES / 2; half_way > 0; half_way /= 2) {
    if (lane < half_way) {
      for (int q = 0; q < BLOCK; ++q) {
        lane_sums[q * THREADS + thread()] += lane_sums[q * THREADS + thread() + half_way];
      }
    }
    barrier();
  }
}

void main() {
  const int gates_a_group = THREADS / LANES;
  const int gate_groups = (push.gates + gates_a_group - 1) / gates_a_group;
  const int chunk = group() / gate_groups;
  const int gate = group() % gate_groups * gates_a_group + thread() / LANES;
  const int lane = thread() % LANES;
  const int begin = chunk * push.chunk_vectors + lane;
  const int end = gate < push.gates ? min(push.vectors, (chunk + 1) * push.chunk_vectors) : 0;
  const int own = chunk * push.quads + push.first_quad + gate * QUADS;
  for (int first = 0; first < QUADS; first += BLOCK) {
    sum_block(gate, first, begin, end);
    add_lanes(lane);
    if (lane == 0 && gate < push.gates) {
      for (int q = 0; q < BLOCK; ++q) sums[own + first + q] = lane_sums[q * THREADS + thread()];
    }
    barrier();
  }
}
