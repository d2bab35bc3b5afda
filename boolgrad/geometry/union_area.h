// The area of a union of disks, with an exact gradient from the exposed arcs.
#pragma once

#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::geometry {

/// The area of the union of each set of disks (x, y, r) in [..., n, 3]: [...]. The area of
/// no disks is 0.
///
/// The gradient depends on the exposed arcs, the parts of the circles that lie in no other disk.
/// With exposed arcs from angle t1 to t2,
///
///   d/dr = r sum(t2 - t1),  d/dx = r sum(sin t2 - sin t1),  d/dy = -r sum(cos t2 - cos t1),
///
/// and the area is half the inner product of disks and gradient, because it is homogeneous of
/// degree 2 (Euler's theorem). Neighbours are found with a tree, so n disks of bounded overlap take
/// O(n log n) time.
///
/// Tangent circles intersect in an arc of length 0. Of equal disks only the first is exposed. A
/// disk of radius 0 has gradient 0. All dtypes are computed in float64. Results do not depend on
/// the number of threads.
Tensor disk_union_area(const Tensor& disks);

}  // namespace boolgrad::geometry
