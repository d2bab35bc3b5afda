#include "boolgrad/geometry/disk.h"

#include <cmath>

#include "boolgrad/backend/cpu/geometry/disk_pairs.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::geometry {
namespace {

bool is_coordinate(double value) { return std::abs(value) <= cpu::largest_disk; }

bool is_radius(double value) {
  return value == 0 || (value >= cpu::smallest_radius && value <= cpu::largest_disk);
}

}  // namespace

void check_disk_shape(std::string_view where, const Tensor& disks, std::int64_t wanted) {
  if (!disks.defined()) fail(where, "expected a tensor, received an undefined one");
  if (!is_floating(disks.dtype())) {
    fail(where, "expected disks of a floating dtype, received {}", to_string(disks.dtype()));
  }
  const Shape& shape = disks.shape();
  const std::string count = wanted == 0 ? "n" : fmt::format("{}", wanted);
  const bool fits =
      shape.size() >= 2 && shape.back() == 3 && (wanted == 0 || shape[shape.size() - 2] == wanted);
  if (!fits) {
    fail(where, "expected disks [..., {}, 3] of x, y and r, received {}", count, to_string(shape));
  }
}

void check_disk_values(std::string_view where, const Tensor& disks) {
  const auto values = disks.values<double>();
  for (std::size_t i = 0; i < values.size(); i += 3) {
    if (!is_coordinate(values[i]) || !is_coordinate(values[i + 1])) {
      fail(where, "expected coordinates of at most 1e70, received ({}, {}) at disk {}", values[i],
           values[i + 1], i / 3);
    }
    if (!is_radius(values[i + 2])) {
      fail(where, "expected radii of 0 or between 1e-70 and 1e70, received {} at disk {}",
           values[i + 2], i / 3);
    }
  }
}

Shape batch_shape(const Tensor& disks) { return {disks.shape().begin(), disks.shape().end() - 2}; }

}  // namespace boolgrad::geometry
