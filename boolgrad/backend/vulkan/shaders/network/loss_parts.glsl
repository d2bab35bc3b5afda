// A workgroup's part of the loss.

// Whether all values were finite, then the parts.
layout(std430, binding = 11) writeonly buffer Results { float results[]; };

shared float part_sums[THREADS];

/// Sums over the threads of a workgroup, in a fixed order.
void store_part(float value) {
  part_sums[thread()] = value;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) part_sums[thread()] += part_sums[thread() + half_way];
    barrier();
  }
  if (thread() != 0) return;
  results[1 + group()] = part_sums[0];
  parts[push.loss_part + group()] = vec2(0.0, is_finite(part_sums[0]) ? 0.0 : 1.0);
}
