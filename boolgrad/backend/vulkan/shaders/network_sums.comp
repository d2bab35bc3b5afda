// The gradients of a layer's coefficients, summed over a chunk of the samples: some threads a gate.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network.glsl"
#include "polynomial.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 5) writeonly buffer Sums { vec4 sums[]; };

shared vec4 lane_sums[THREADS];

vec4 input_of(int gate, int slot, int vector) {
  return activations[source_row(gate, slot) * push.vectors + vector];
}

/// Of four samples: the sum of the gradient times the products that quad `q` holds.
vec4 sum_of_vector(int gate, int q, int vector) {
  const int row = gate / push.gates_a_row;
  vec4 g = output_gradients[row * push.vectors + vector];
  for (int s = 2; s < ARITY; ++s) {
    if ((q >> (s - 2) & 1) != 0) g *= input_of(gate, s, vector);
  }
  const vec4 one = vec4(1);
  const vec4 ga = g * input_of(gate, 0, vector);
  const vec4 b = ARITY > 1 ? input_of(gate, ARITY > 1 ? 1 : 0, vector) : vec4(0);
  return vec4(dot(g, one), dot(ga, one), dot(g, b), dot(ga, b));
}

void main() {
  const int gates_a_group = THREADS / LANES;
  const int gate_groups = (push.gates + gates_a_group - 1) / gates_a_group;
  const int chunk = group() / gate_groups;
  const int gate = group() % gate_groups * gates_a_group + thread() / LANES;
  const int lane = thread() % LANES;
  const int begin = chunk * push.chunk_vectors + lane;
  const int end =
      gate < push.gates ? min(push.vectors, (chunk + 1) * push.chunk_vectors) : 0;
  for (int q = 0; q < QUADS; ++q) {
    precise vec4 sum = vec4(0);
    for (int vector = begin; vector < end; vector += LANES) sum += sum_of_vector(gate, q, vector);
    lane_sums[thread()] = sum;
    barrier();
    for (int half_way = LANES / 2; half_way > 0; half_way /= 2) {
      if (lane < half_way) lane_sums[thread()] += lane_sums[thread() + half_way];
      barrier();
    }
    if (lane == 0 && gate < push.gates) {
      sums[chunk * push.quads + push.first_quad + gate * QUADS + q] = lane_sums[thread()];
    }
    barrier();
  }
}
