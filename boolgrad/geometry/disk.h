// Disks and tensors of disks.
#pragma once

#include <cstdint>
#include <string_view>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::geometry {

/// A disk with centre (x, y) and radius r.
struct Disk {
  double x = 0;
  double y = 0;
  double r = 0;
};

/// The relative position of two disks. The area of their union is smooth within a stratum; its
/// second derivative diverges at the boundary of the intersecting one.
enum class Stratum : std::int32_t { disjoint = 0, intersecting = 1, contained = 2 };

/// Throws unless `disks` is a floating tensor [..., n, 3] of (x, y, r), with n = `wanted` if that
/// is not 0. Errors open with `[where]`.
void check_disk_shape(std::string_view where, const Tensor& disks, std::int64_t wanted = 0);

/// Throws unless all coordinates are finite and at most 1e70 in magnitude, and all radii are 0 or
/// between 1e-70 and 1e70. The disks are float64.
void check_disk_values(std::string_view where, const Tensor& disks);

/// The batch shape: [...] for disks [..., n, 3].
Shape batch_shape(const Tensor& disks);

}  // namespace boolgrad::geometry
