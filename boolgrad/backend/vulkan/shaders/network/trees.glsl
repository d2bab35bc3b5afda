// Trees of two-input gates, four samples at once. As a layer, their gates are the outputs, their
// tables are the kernels, and their arity is the number of roots that an output pools. Outputs are
// numbered in processing order. Needs the buffer `activations`.
#extension GL_EXT_control_flow_attributes : require

layout(std430, binding = 1) readonly buffer Wires { int wires[]; };
layout(std430, binding = 2) readonly buffer Coefficients { vec4 coefficients[]; };

const int LEAVES = 1 << LEVELS;
const int TREE_GATES = LEAVES - 1;

/// The leaves of a tree, then its gates, level by level: gate g is node LEAVES + g and reads nodes
/// 2 g and 2 g + 1.
const int MAX_NODES = 2 * LEAVES - 1;
const int ROOT = 2 * LEAVES - 2;

int output_at(int number) { return wires[push.sources - 2 * push.gates + number]; }
int kernel_at(int number) { return wires[push.sources - push.gates + number]; }

/// The row of the first leaf of a root of an output.
int leaf_row(int number, int root) { return (number * ARITY + root) * LEAVES; }

int gates_of(int level) { return LEAVES >> (level + 1); }
/// The first gate of a level in a tree, and the first of its tables among those of all kernels.
int first_gate_of(int level) { return LEAVES - 2 * gates_of(level); }
int first_table_of(int level) { return push.tables * first_gate_of(level); }

vec4 coefficients_of(int kernel, int level, int i) {
  return coefficients[push.first_quad + first_table_of(level) + kernel * gates_of(level) + i];
}

/// The value of a leaf; 0 for a place outside of the image.
vec4 value_of_leaf(int row, int vector) {
  const int source = wires[push.sources + row];
  return source < 0 ? vec4(0) : activations[(push.in_row + source) * push.vectors + vector];
}

/// Evaluates all nodes. Returns the value of the root, which is precise, so that roots that tie do
/// so whenever they are evaluated.
vec4 evaluate(int kernel, int first_leaf, int vector, out vec4 node[MAX_NODES]) {
  [[unroll]] for (int i = 0; i < LEAVES; ++i) node[i] = value_of_leaf(first_leaf + i, vector);
  [[unroll]] for (int level = 0; level < LEVELS; ++level) {
    [[unroll]] for (int i = 0; i < gates_of(level); ++i) {
      const int g = first_gate_of(level) + i;
      const vec4 c = coefficients_of(kernel, level, i);
      const vec4 b = node[2 * g + 1];
      precise const vec4 slope = fma(vec4(c.w), b, vec4(c.y));
      precise const vec4 value = fma(slope, node[2 * g], fma(vec4(c.z), b, vec4(c.x)));
      node[LEAVES + g] = value;
    }
  }
  return node[ROOT];
}
