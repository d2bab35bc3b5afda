// Unions of two disks, a batch of pairs at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace boolgrad::cpu {

/// Pairs are six numbers each (x, y, r of both disks), one pair after the other.
///
/// Writes the area of each union and its stratum (0 disjoint, 1 intersecting, 2 contained). Returns
/// whether every number is one that disks may have: at most `largest_disk` in size, radii 0 or
/// at least `smallest_radius`. Where it is false the results mean nothing.
bool disk_pair_areas(const double* pairs, std::size_t count, double* areas, std::int32_t* strata);

/// Gradient of sum(upstream * areas), laid out as the pairs are; `strata` are those of the areas.
void disk_pair_gradients(const double* pairs, const std::int32_t* strata, const double* upstream,
                         std::size_t count, double* gradients);

/// Products of four sizes between these neither overflow nor lose bits at the small end.
inline constexpr double largest_disk = 1e70;
inline constexpr double smallest_radius = 1e-70;

}  // namespace boolgrad::cpu
