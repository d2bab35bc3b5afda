// Sums over the LANES threads of an item.

shared vec4 lane_sums[THREADS];

int lane() { return thread() % LANES; }
/// The item of a thread.
int lane_item() { return group() * (THREADS / LANES) + thread() / LANES; }

/// In a fixed order; all lanes have the result. All threads of a workgroup take part.
vec4 over_lanes(vec4 value) {
  lane_sums[thread()] = value;
  barrier();
  for (int half_way = LANES / 2; half_way > 0; half_way /= 2) {
    if (lane() < half_way) lane_sums[thread()] += lane_sums[thread() + half_way];
    barrier();
  }
  const vec4 sum = lane_sums[thread() - lane()];
  barrier();
  return sum;
}
