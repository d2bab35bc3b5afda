// The gradients of a layer's coefficients, summed over a chunk of samples by several threads per
// table. If gates share a table, the samples of all of them are summed, gate by gate. With
// SUBGROUPS, threads of a subgroup exchange sums directly; the order is the same.
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#endif

#include "network/network.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 5) writeonly buffer Sums { vec4 sums[]; };

#include "network/polynomial.glsl"

// Quads summed at once: all products of the first four inputs.
const int BLOCK = QUADS < 4 ? QUADS : 4;

shared vec4 lane_sums[BLOCK * THREADS];

/// Up to four quads: products of the first two inputs, times 1, the third, the fourth, and both.
struct QuadSums {
  vec4 ab, c, d, cd;
};

QuadSums sum_of(QuadSums one, QuadSums other) {
  precise const QuadSums sum =
      QuadSums(one.ab + other.ab, one.c + other.c, one.d + other.d, one.cd + other.cd);
  return sum;
}

/// For four samples: the sums of g, g a, g b and g a b.
vec4 products(vec4 g, vec4 a, vec4 b) {
  const vec4 one = vec4(1);
  const vec4 ga = g * a;
  return vec4(dot(g, one), dot(ga, one), dot(g, b), dot(ga, b));
}

/// A thread's sums of the quads from `first` on.
QuadSums sum_block(int own, int first, int begin, int end) {
  precise QuadSums sum = QuadSums(vec4(0), vec4(0), vec4(0), vec4(0));
  for (int i = begin; i < end; i += LANES) {
    const int gate = SHARES_TABLES == 0 ? own : own * push.positions + i / push.vectors;
    const int vector = SHARES_TABLES == 0 ? i : i % push.vectors;
    vec4 g = output_gradients[gate / push.gates_per_row * push.vectors + vector];
    if (ARITY > 4 && (first & 4) != 0) g *= input_of(gate, 4, vector);
    if (ARITY > 5 && (first & 8) != 0) g *= input_of(gate, 5, vector);
    const vec4 a = input_of(gate, 0, vector);
    vec4 b = vec4(0);
    if (ARITY > 1) b = input_of(gate, 1, vector);
    sum.ab += products(g, a, b);
    if (ARITY < 3) continue;
    const vec4 gc = g * input_of(gate, 2, vector);
    sum.c += products(gc, a, b);
    if (ARITY < 4) continue;
    const vec4 d = input_of(gate, 3, vector);
    sum.d += products(g * d, a, b);
    sum.cd += products(gc * d, a, b);
  }
  return sum;
}

void share(QuadSums sums_of_lane) {
  lane_sums[thread()] = sums_of_lane.ab;
  if (ARITY > 2) lane_sums[THREADS + thread()] = sums_of_lane.c;
  if (ARITY > 3) {
    lane_sums[2 * THREADS + thread()] = sums_of_lane.d;
    lane_sums[3 * THREADS + thread()] = sums_of_lane.cd;
  }
}

QuadSums shared_by(int other) {
  QuadSums found = QuadSums(lane_sums[other], vec4(0), vec4(0), vec4(0));
  if (ARITY > 2) found.c = lane_sums[THREADS + other];
  if (ARITY > 3) {
    found.d = lane_sums[2 * THREADS + other];
    found.cd = lane_sums[3 * THREADS + other];
  }
  return found;
}

#ifdef SUBGROUPS
QuadSums from_lane_after(QuadSums own, uint distance) {
  QuadSums found = QuadSums(subgroupShuffleDown(own.ab, distance), vec4(0), vec4(0), vec4(0));
  if (ARITY > 2) found.c = subgroupShuffleDown(own.c, distance);
  if (ARITY > 3) {
    found.d = subgroupShuffleDown(own.d, distance);
    found.cd = subgroupShuffleDown(own.cd, distance);
  }
  return found;
}
#endif

/// Reduces over the lanes of a table in a fixed order; the first lane has the result.
QuadSums over_lanes(QuadSums sum, int lane) {
  int half_way = LANES / 2;
  if (half_way >= SUBGROUP) {
    share(sum);
    barrier();
  }
  for (; half_way >= SUBGROUP; half_way /= 2) {
    if (lane < half_way) {
      sum = sum_of(sum, shared_by(thread() + half_way));
      share(sum);
    }
    barrier();
  }
#ifdef SUBGROUPS
  for (; half_way > 0; half_way /= 2) sum = sum_of(sum, from_lane_after(sum, uint(half_way)));
#endif
  return sum;
}

void store(int at, QuadSums sum) {
  sums[at] = sum.ab;
  if (BLOCK > 1) sums[at + 1] = sum.c;
  if (BLOCK > 2) {
    sums[at + 2] = sum.d;
    sums[at + 3] = sum.cd;
  }
}

void main() {
  const int tables_per_group = THREADS / LANES;
  const int table_groups = (push.tables + tables_per_group - 1) / tables_per_group;
  const int chunk = group() / table_groups;
  const int number = group() % table_groups * tables_per_group + thread() / LANES;
  const int last = push.tables - 1;
  const int table = SHARES_TABLES == 0 ? ordered_gate(min(number, last)) : min(number, last);
  const int lane = thread() % LANES;
  const int begin = chunk * push.chunk_vectors + lane;
  const int vectors = SHARES_TABLES == 0 ? push.vectors : push.positions * push.vectors;
  const int end = number < push.tables ? min(vectors, (chunk + 1) * push.chunk_vectors) : 0;
  const int own = push.first_sum + (chunk * push.tables + table) * QUADS;
  for (int first = 0; first < QUADS; first += BLOCK) {
    const QuadSums sum = over_lanes(sum_block(table, first, begin, end), lane);
    if (lane == 0 && number < push.tables) store(own + first, sum);
    barrier();
  }
}
