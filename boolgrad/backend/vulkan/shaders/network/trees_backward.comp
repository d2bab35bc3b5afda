// The gradients of the coefficients of trees, summed over a section of the outputs of a kernel and
// all samples, in the order of the chunks of single layers: one workgroup per section. With INPUTS,
// also the gradients of all leaves.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) readonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 4) readonly buffer OutputGradients { vec4 output_gradients[]; };
layout(std430, binding = 5) writeonly buffer Sums { vec4 sums[]; };
#ifdef INPUTS
layout(std430, binding = 22) writeonly buffer LeafGradients { vec4 leaf_gradients[]; };
#endif

#include "network/trees.glsl"

// Gates whose sums are reduced at once.
const int BLOCK = 4;

shared vec4 thread_sums[BLOCK * THREADS];

/// The largest root of an output so far, and how many roots tie for it.
struct Maximum {
  vec4 value, winners;
};

Maximum with_root(Maximum known, vec4 root) {
  const vec4 tied = known.winners + mix(vec4(0), vec4(1), equal(root, known.value));
  return Maximum(max(known.value, root), mix(tied, vec4(1), greaterThan(root, known.value)));
}

/// Adds the sums of g, g a, g b and g ab of every gate. Gradients take the place of the nodes.
void differentiate(int kernel, vec4 root_gradient, inout vec4 node[MAX_NODES],
                   inout vec4 gate_sums[TREE_GATES]) {
  const vec4 one = vec4(1);
  node[ROOT] = root_gradient;
  [[unroll]] for (int level = LEVELS - 1; level >= 0; --level) {
    [[unroll]] for (int i = 0; i < gates_of(level); ++i) {
      const int g = first_gate_of(level) + i;
      const vec4 c = coefficients_of(kernel, level, i);
      const vec4 a = node[2 * g];
      const vec4 b = node[2 * g + 1];
      const vec4 upstream = node[LEAVES + g];
      const vec4 with_a = upstream * a;
      gate_sums[g] += vec4(dot(upstream, one), dot(with_a, one), dot(upstream, b), dot(with_a, b));
      node[2 * g] = upstream * fma(vec4(c.w), b, vec4(c.y));
      node[2 * g + 1] = upstream * fma(vec4(c.w), a, vec4(c.z));
    }
  }
}

/// Evaluates all roots twice: the second time, those that tie for the maximum share the gradient.
void add_output(int kernel, int number, int vector, inout vec4 gate_sums[TREE_GATES]) {
  const int row = output_at(number) / push.gates_per_row;
  const vec4 upstream = output_gradients[row * push.vectors + vector];
  vec4 node[MAX_NODES];
  Maximum largest;
  [[dont_unroll]] for (int step = ARITY == 1 ? 1 : 0; step < 2 * ARITY; ++step) {
    const int root = step % ARITY;
    const int first_leaf = leaf_row(number, root);
    const vec4 value = evaluate(kernel, first_leaf, vector, node);
    if (ARITY > 1 && step == 0) largest = Maximum(value, vec4(1));
    else if (step < ARITY) largest = with_root(largest, value);
    if (step < ARITY) continue;
    vec4 share = upstream;
    if (ARITY > 1) share = mix(vec4(0), upstream / largest.winners, equal(value, largest.value));
    differentiate(kernel, share, node, gate_sums);
#ifdef INPUTS
    [[unroll]] for (int i = 0; i < LEAVES; ++i) {
      leaf_gradients[(first_leaf + i) * push.vectors + vector] = node[i];
    }
#endif
  }
}

/// The sums of a gate lie where those of a single layer would: level by level, then by section.
void store(int g, int kernel, int chunk, vec4 sum) {
  int level = 0;
  while (g >= first_gate_of(level + 1)) ++level;
  const int width = gates_of(level);
  const int table = kernel * width + g - first_gate_of(level);
  sums[push.first_sum + push.chunks * first_table_of(level) + chunk * push.tables * width + table] =
      sum;
}

void main() {
  const int section = push.first_section + 4 * group();
  const int kernel = wires[section];
  const int begin = wires[section + 1];
  const int end = wires[section + 2];
  const int chunk = wires[section + 3];
  precise vec4 gate_sums[TREE_GATES];
  [[unroll]] for (int g = 0; g < TREE_GATES; ++g) gate_sums[g] = vec4(0);
  for (int i = thread(); i < (end - begin) * push.vectors; i += THREADS) {
    add_output(kernel, begin + i / push.vectors, i % push.vectors, gate_sums);
  }
  [[unroll]] for (int first = 0; first < TREE_GATES; first += BLOCK) {
    [[unroll]] for (int g = 0; g < BLOCK; ++g) {
      if (first + g < TREE_GATES) thread_sums[g * THREADS + thread()] = gate_sums[first + g];
    }
    barrier();
    for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
      [[unroll]] for (int g = 0; g < BLOCK; ++g) {
        const int own = g * THREADS + thread();
        if (thread() < half_way) thread_sums[own] += thread_sums[own + half_way];
      }
      barrier();
    }
    const int g = first + thread();
    if (thread() < BLOCK && g < TREE_GATES) {
      store(g, kernel, chunk, thread_sums[thread() * THREADS]);
    }
    barrier();
  }
}
