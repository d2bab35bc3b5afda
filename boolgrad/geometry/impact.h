// When a disk that moves touches another.
#pragma once

#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct Direction {
  double x = 1;
  double y = 0;
};

/// Of each pair in [..., 2, 3], the first time t >= 0 at which the circles are tangent while the
/// second disk moves by t times `direction`: [...]. Infinite where they never are.
///
/// Disks that start apart touch from outside; a disk that starts inside the other touches on its
/// way out; intersecting ones touch from inside if the path goes that deep, or else as they part.
/// The root of the gap F(t) is bracketed, between the start and the point of closest approach or
/// beyond it, and the bracket is closed to the last bit.
///
/// The derivative is that of the implicit function: dt = -dF / F_t, where F_t is the speed at which
/// the gap closes. Where the path only grazes the circle F_t is 0 and the true derivative is
/// infinite: F_t is kept 1e-10 of the speed away from 0, with its sign. The derivative is 0 where
/// there is no impact, and where the centres coincide, which leaves the normal open.
Tensor time_of_impact(const Tensor& disks, const Direction& direction);

}  // namespace boolgrad
