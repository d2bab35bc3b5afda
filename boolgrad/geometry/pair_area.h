// The union of two disks: its area and gradient, exact on both sides of a tangency and at it.
#pragma once

#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Area of the union of the two disks in each of [..., 2, 3] (x, y, r): [...].
///
/// With d the distance of the centres, a >= b the radii, s half the triangle's perimeter:
///
///   disjoint      d > a + b    pi a^2 + pi b^2
///   intersecting  otherwise    a^2 (pi - A) + b^2 (pi - B) + 2 T
///   contained     d < a - b    pi a^2
///
/// where A and B are the angles at the centres of the triangle with sides d, a, b and T its area,
/// by half-angle formulas that lose nothing where the triangle is flat. The gradient is the
/// exposed arc of each circle for its radius, and the chord for the distance of the centres.
///
/// The forward saves the stratum of each pair and the backward goes by it; no formula sees a pair
/// of another stratum. Exactly at a tangency a pair counts as intersecting. A disk of radius 0, and
/// the second of two equal disks, count as contained (or disjoint) and never as intersecting.
/// Computed in float64 whatever the dtype. Values at which it throws: see `check_disk_values`.
Tensor disk_pair_area(const Tensor& disks);

/// The stratum of each pair: int32, as `Stratum` numbers them.
Tensor disk_pair_strata(const Tensor& disks);

}  // namespace boolgrad
