// How two disks lie to each other, to the last bits. The plain twin of backend/cpu/disk_pairs.cpp.
#pragma once

#include "boolgrad/geometry/disk.h"

namespace boolgrad {

/// From the centre of one disk to that of another, with a >= b the two radii.
struct Arrangement {
  double a = 0;
  double b = 0;
  double dx = 0;
  double dy = 0;
  double d = 0;
  /// d - (a + b), above 0 where the disks are apart, and d - (a - b), below 0 where one is inside
  /// the other. Both have the digits of their own size: near a tangency they are as accurate as
  /// elsewhere, also where b is below the rounding of a.
  double outer_gap = 0;
  double inner_gap = 0;

  /// Exactly at a tangency circles meet. A point, and a copy of a disk, have no circle to meet.
  Stratum stratum() const;
};

Arrangement arrange(const Disk& from, const Disk& to);

/// Of two circles that meet, half the arc of each that lies inside the other disk, as an angle.
double half_covered_of_larger(const Arrangement& at);
double half_covered_of_smaller(const Arrangement& at);

}  // namespace boolgrad
