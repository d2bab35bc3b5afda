// A workgroup's partial result about gradients: the sum of their squares, and whether one is not
// finite. Needs the buffer `parts`.

shared float squares[THREADS];
shared uint has_nonfinite;

/// Call first, before a barrier.
void begin_norm() {
  if (thread() == 0) has_nonfinite = 0;
}

/// The square of a gradient, after clipping.
float square_of(float gradient) {
  if (!is_finite(gradient)) atomicOr(has_nonfinite, 1u);
  if (arguments.clip_value > 0.0) {
    gradient = clamp(gradient, -arguments.clip_value, arguments.clip_value);
  }
  return gradient * gradient;
}

/// Sums over the threads of a workgroup, in a fixed order.
void store_norm(int part, float square) {
  squares[thread()] = square;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) squares[thread()] += squares[thread() + half_way];
    barrier();
  }
  if (thread() == 0) parts[part] = vec2(squares[0], float(has_nonfinite));
}
