// Gates as polynomials of their inputs.

layout(std430, binding = 1) readonly buffer Wires { int wires[]; };
layout(std430, binding = 2) readonly buffer Coefficients { vec4 coefficients[]; };

/// The row that input `slot` of a gate reads.
int source_row(int gate, int slot) {
  return push.in_row + wires[push.sources + gate * ARITY + slot];
}

/// The polynomial of a gate at its inputs or, where `slot` is one of them, its slope in that
/// direction. Each input halves what is left of it.
vec4 polynomial(int gate, vec4 x[MOST_SLOTS], int slot) {
  vec4 value[MOST_QUADS];
  for (int q = 0; q < QUADS; ++q) {
    const vec4 c = coefficients[push.first_quad + gate * QUADS + q];
    const vec4 first_slope = fma(vec4(c.w), x[1], vec4(c.y));
    if (slot == 0) value[q] = first_slope;
    else if (slot == 1) value[q] = fma(vec4(c.w), x[0], vec4(c.z));
    else value[q] = fma(first_slope, x[0], fma(vec4(c.z), x[1], vec4(c.x)));
  }
  for (int s = SLOTS - 1; s >= 2; --s) {
    const int half_way = 1 << (s - 2);
    for (int q = 0; q < half_way; ++q) {
      const vec4 slope = value[q + half_way];
      value[q] = s == slot ? slope : fma(x[s], slope, value[q]);
    }
  }
  return value[0];
}
