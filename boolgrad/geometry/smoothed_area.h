// The smoothed area of a union of disks, the usual surrogate at changes of topology.
#pragma once

#include <cstdint>

#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::geometry {

/// Options of `smoothed_union_area`.
struct SmoothedOptions {
  /// k: the length scale of the smooth minimum of signed distances.
  double temperature = 0.1;
  /// beta: a point at signed distance f has the weight 1 / (1 + e^(beta f)).
  double sharpness = 100;
  /// The side of a grid cell, in units of 1 / sharpness.
  double cell = 1;
};

/// The smoothed area of the union of each set of disks in [..., n, 3]: [...]. The area of no
/// disks is 0.
///
///   f_i(p) = |p - c_i| - r_i,  f(p) = -k log sum_i e^(-f_i(p)/k),
///   area = sum_p h^2 sigmoid(-beta f(p))
///
/// The sum is over the midpoints p of the cells, of side h, of a grid that covers the support of
/// the sigmoid. The gradient is that of the sum for a fixed grid.
///
/// The product k beta determines the interaction of disjoint disks. For k beta <= 1 the area
/// decreases as they approach, at any distance, as it does for overlapping disks. For k beta > 1 it
/// increases first: a fit that minimises the area drives distant disks apart.
Tensor smoothed_union_area(const Tensor& disks, const SmoothedOptions& options = {});

}  // namespace boolgrad::geometry
