// The area of the union of two disks, with an exact gradient on both sides of a tangency and at it.
#pragma once

#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::geometry {

/// The area of the union of each pair of disks (x, y, r) in [..., 2, 3]: [...].
///
/// With d the distance of the centres and a >= b the radii, it is
///
///   disjoint      d > a + b    pi a^2 + pi b^2
///   intersecting  otherwise    a^2 (pi - A) + b^2 (pi - B) + 2 T
///   contained     d < a - b    pi a^2
///
/// where A and B are the angles at the centres in the triangle with sides d, a, b and T is its
/// area. Half-angle formulas avoid cancellation for flat triangles. The derivative with respect to
/// a radius is the exposed arc length of its circle, that with respect to d is the length of the
/// chord.
///
/// The forward pass saves the stratum of each pair, and the backward pass uses the formula of that
/// stratum. Tangent disks count as intersecting. A disk of radius 0, and the second of two equal
/// disks, count as contained or disjoint. All dtypes are computed in float64. `check_disk_values`
/// lists invalid values.
Tensor disk_pair_area(const Tensor& disks);

/// The stratum of each pair: int32 values of `Stratum`.
Tensor disk_pair_strata(const Tensor& disks);

}  // namespace boolgrad::geometry
