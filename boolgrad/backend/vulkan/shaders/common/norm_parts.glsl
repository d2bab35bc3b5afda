// What a group says of gradients: the sum of their squares, and whether one is not finite. Needs
// the buffer `parts`.

shared float squares[THREADS];
shared uint is_broken;

/// To be called first, before a barrier.
void begin_norm() {
  if (thread() == 0) is_broken = 0;
}

/// The square of a gradient, once clipped.
float square_of(float gradient) {
  if (!is_finite(gradient)) atomicOr(is_broken, 1u);
  if (arguments.clip_value > 0.0) {
    gradient = clamp(gradient, -arguments.clip_value, arguments.clip_value);
  }
  return gradient * gradient;
}

/// Adds up what the threads of a group have, in a fixed order.
void keep_norm(int part, float square) {
  squares[thread()] = square;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) squares[thread()] += squares[thread() + half_way];
    barrier();
  }
  if (thread() == 0) parts[part] = vec2(squares[0], float(is_broken));
}
