// Areas of unions of two disks, for batches of pairs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace boolgrad::cpu {

/// Computes the area and the stratum (0 disjoint, 1 intersecting, 2 contained) of each union. A
/// pair is six numbers: x, y, r of both disks.
///
/// Returns whether all disks are valid: numbers of at most `largest_disk`, radii of 0 or at least
/// `smallest_radius`. Otherwise the results are undefined.
bool disk_pair_areas(const double* pairs, std::size_t count, double* areas, std::int32_t* strata);

/// The gradient of sum(upstream * areas), in the layout of the pairs. `strata` come from
/// `disk_pair_areas`.
void disk_pair_gradients(const double* pairs, const std::int32_t* strata, const double* upstream,
                         std::size_t count, double* gradients);

/// Products of four numbers between these limits neither overflow nor become subnormal.
inline constexpr double largest_disk = 1e70;
inline constexpr double smallest_radius = 1e-70;

}  // namespace boolgrad::cpu
