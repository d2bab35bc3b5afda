// A disk, and tensors of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct Disk {
  double x = 0;
  double y = 0;
  double r = 0;
};

/// How two disks lie to each other. The area of their union is smooth within a stratum, and its
/// second derivative is infinite on the way to the next.
enum class Stratum : std::int32_t { disjoint = 0, intersecting = 1, contained = 2 };

/// Checks that `disks` is a floating tensor [..., n, 3] of (x, y, r) with n at least 1 (exactly
/// `wanted` where that is not 0), and names the place in what it throws otherwise.
void check_disk_shape(std::string_view where, const Tensor& disks, std::int64_t wanted = 0);

/// Checks the numbers of float64 disks: coordinates finite and radii not negative, all at most
/// 1e70 in size, and radii that are not 0 at least 1e-70.
void check_disk_values(std::string_view where, const Tensor& disks);

/// The shape of one number a set of disks: [...] for [..., n, 3].
Shape batch_shape(const Tensor& disks);

}  // namespace boolgrad
