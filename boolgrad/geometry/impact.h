// Time of impact of two disks.
#pragma once

#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::geometry {

/// The velocity of the second disk.
struct Direction {
  double x = 1;
  double y = 0;
};

/// For each pair in [..., 2, 3], the first time t >= 0 at which the circles are tangent while the
/// second disk moves by t times `direction`: [...]. Infinite if there is no such time.
///
/// Disjoint disks touch externally. A contained disk touches internally on its way out.
/// Intersecting disks touch internally if the path goes that deep, else externally as they
/// separate. The root of the gap F(t) is bracketed between the start and the point of closest
/// approach, or beyond it, and refined to the last bit.
///
/// The derivative is that of the implicit function, dt = -dF / F_t, where F_t is the closing speed
/// of the gap. On a grazing path F_t is 0 and the derivative infinite, so |F_t| is bounded below by
/// 1e-10 times the speed. The derivative is 0 if there is no impact, and if the centres coincide,
/// where the normal is undefined.
Tensor time_of_impact(const Tensor& disks, const Direction& direction);

}  // namespace boolgrad::geometry
