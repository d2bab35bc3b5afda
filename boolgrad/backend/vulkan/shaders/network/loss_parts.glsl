// A workgroup's part of the loss.

// Whether all values were finite, then the parts; then those of `head_loss.comp`.
layout(std430, binding = 11) writeonly buffer Results { float results[]; };

shared float part_sums[THREADS];

/// The sum over the threads of a workgroup, in a fixed order; all threads have it.
float over_threads(float value) {
  part_sums[thread()] = value;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) part_sums[thread()] += part_sums[thread() + half_way];
    barrier();
  }
  const float sum = part_sums[0];
  barrier();
  return sum;
}

void store_part(float value) {
  const float sum = over_threads(value);
  if (thread() != 0) return;
  results[1 + group()] = sum;
  parts[push.loss_part + group()] = vec2(0.0, is_finite(sum) ? 0.0 : 1.0);
}
