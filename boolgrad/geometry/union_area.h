// The union of any number of disks: its area and gradient from the exposed arcs.
#pragma once

#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Area of the union of the n disks in each of [..., n, 3] (x, y, r): [...]. Of no disks it is 0.
///
/// The gradient is the part of each circle that lies in no other disk. With exposed arcs from t1 to
/// t2:
///
///   d/dr = r sum(t2 - t1),  d/dx = r sum(sin t2 - sin t1),  d/dy = -r sum(cos t2 - cos t1),
///
/// and the area is half the product of disks and gradient (Green's theorem), for it is homogeneous
/// of degree 2. A tree finds the neighbours: n disks of bounded overlap take O(n log n).
///
/// Circles that touch count as circles that meet, over an arc of length 0. Of equal disks the first
/// is exposed and the others are covered. A disk of radius 0 has no arc: its gradient is 0.
/// Computed in float64 whatever the dtype; the same bits for any number of threads.
Tensor disk_union_area(const Tensor& disks);

}  // namespace boolgrad
