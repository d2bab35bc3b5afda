// The relative position of two disks, computed to full precision. The reference for
// backend/cpu/disk_pairs.cpp.
#pragma once

#include "boolgrad/geometry/disk.h"

namespace boolgrad::geometry {

/// The relative position of two disks with radii a >= b.
struct Arrangement {
  double a = 0;   ///< larger radius
  double b = 0;   ///< smaller radius
  double dx = 0;  ///< from the first centre to the second
  double dy = 0;
  double d = 0;  ///< distance of the centres
  /// d - (a + b): positive for disjoint disks. Its relative error stays small near a tangency, even
  /// if b is below the rounding error of a.
  double outer_gap = 0;
  /// d - (a - b): negative if one disk contains the other. As accurate as the outer gap.
  double inner_gap = 0;

  /// The stratum. Tangent circles count as intersecting. A point or an equal disk never intersects.
  Stratum stratum() const;
};

/// The relative position of `to` as seen from `from`.
Arrangement arrange(const Disk& from, const Disk& to);

/// For intersecting circles, half the angle of the larger circle's arc inside the other disk.
double half_covered_of_larger(const Arrangement& at);
/// For intersecting circles, half the angle of the smaller circle's arc inside the other disk.
double half_covered_of_smaller(const Arrangement& at);

}  // namespace boolgrad::geometry
