// The union of disks, blurred: what is usually differentiated where topology changes.
#pragma once

#include <cstdint>

#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct SmoothedOptions {
  /// k: over this distance the signed distances of disks melt into one.
  double temperature = 0.1;
  /// beta: a point at distance f outside counts as 1 / (1 + e^(beta f)).
  double sharpness = 100;
  /// Side of a cell of the grid, in units of 1 / sharpness.
  double cell = 1;
};

/// Smoothed area of the union in each of [..., n, 3]: [...]. Of no disks it is 0.
///
///   f_i(p) = |p - c_i| - r_i,  f(p) = -k log sum_i e^(-f_i(p)/k),  area = sum_p h^2 sigmoid(-beta
///   f(p))
///
/// over the middles of the cells, of side h, of a grid around the disks as far as the sigmoid
/// counts. The gradient is that of this sum with the grid held in place.
///
/// The product k beta decides what disks that are apart do to each other. Up to 1 the area shrinks
/// as they come near, at any distance, as that of overlapping disks does. Above 1 it grows first:
/// seen from further away, disks repel each other.
Tensor smoothed_union_area(const Tensor& disks, const SmoothedOptions& options = {});

}  // namespace boolgrad
