// Gates as polynomials of their inputs, four samples at once. Each input halves the remaining
// polynomial. No arrays, because dynamic indexing could move them to memory.

#include "network/wires.glsl"

layout(std430, binding = 2) readonly buffer Coefficients { vec4 coefficients[]; };

struct GateInputs {
  vec4 a, b, c, d, e, f;
};

/// Missing inputs are 0.
GateInputs inputs_of(int gate, int vector) {
  GateInputs x = GateInputs(vec4(0), vec4(0), vec4(0), vec4(0), vec4(0), vec4(0));
  x.a = input_of(gate, 0, vector);
  if (ARITY > 1) x.b = input_of(gate, 1, vector);
  if (ARITY > 2) x.c = input_of(gate, 2, vector);
  if (ARITY > 3) x.d = input_of(gate, 3, vector);
  if (ARITY > 4) x.e = input_of(gate, 4, vector);
  if (ARITY > 5) x.f = input_of(gate, 5, vector);
  return x;
}

/// low + x high, or its derivative.
vec4 joined(vec4 low, vec4 high, vec4 x, bool is_slope) {
  return is_slope ? high : fma(x, high, low);
}

// Polynomials of two to six inputs, starting at a quad; or their partial derivative, if `slot` is
// one of these inputs.

vec4 of_two(int quad, GateInputs x, int slot) {
  const vec4 p = coefficients[quad];
  const vec4 slope = fma(vec4(p.w), x.b, vec4(p.y));
  if (slot == 0) return slope;
  if (slot == 1) return fma(vec4(p.w), x.a, vec4(p.z));
  return fma(slope, x.a, fma(vec4(p.z), x.b, vec4(p.x)));
}

vec4 of_three(int quad, GateInputs x, int slot) {
  return joined(of_two(quad, x, slot), of_two(quad + 1, x, slot), x.c, slot == 2);
}

vec4 of_four(int quad, GateInputs x, int slot) {
  return joined(of_three(quad, x, slot), of_three(quad + 2, x, slot), x.d, slot == 3);
}

vec4 of_five(int quad, GateInputs x, int slot) {
  return joined(of_four(quad, x, slot), of_four(quad + 4, x, slot), x.e, slot == 4);
}

vec4 of_six(int quad, GateInputs x, int slot) {
  return joined(of_five(quad, x, slot), of_five(quad + 8, x, slot), x.f, slot == 5);
}

/// The polynomial of a gate, or its partial derivative if `slot` is one of its inputs.
vec4 polynomial(int gate, GateInputs x, int slot) {
  const int quad = push.first_quad + table_of(gate) * QUADS;
  if (ARITY == 3) return of_three(quad, x, slot);
  if (ARITY == 4) return of_four(quad, x, slot);
  if (ARITY == 5) return of_five(quad, x, slot);
  if (ARITY == 6) return of_six(quad, x, slot);
  return of_two(quad, x, slot);
}

/// The partial derivative of a gate. With two inputs, only the other one is read.
vec4 slope_of(int gate, int vector, int slot) {
  if (ARITY != 2) return polynomial(gate, inputs_of(gate, vector), slot);
  const vec4 p = coefficients[push.first_quad + table_of(gate)];
  return fma(vec4(p.w), input_of(gate, 1 - slot, vector), vec4(slot == 0 ? p.y : p.z));
}
