// Sets of disks for tests.
#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/random.h"
#include "boolgrad/geometry/arrangement.h"
#include "boolgrad/geometry/disk.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::testing_support {

inline Tensor tensor_of(const std::vector<geometry::Disk>& disks) {
  std::vector<double> numbers;
  for (const geometry::Disk& disk : disks) numbers.insert(numbers.end(), {disk.x, disk.y, disk.r});
  return Tensor::of(numbers, {static_cast<std::int64_t>(disks.size()), 3});
}

inline Tensor pair_of(const geometry::Disk& first, const geometry::Disk& second) {
  return tensor_of({first, second});
}

/// The area of one set of disks and its gradient.
struct AreaAndGradient {
  double area = 0;
  std::vector<double> gradient;

  double largest() const {
    double result = 0;
    for (const double value : gradient) result = std::max(result, std::abs(value));
    return result;
  }
};

template <class Area>
AreaAndGradient area_and_gradient(const Area& area_of, const Tensor& disks) {
  const Tensor leaf = parameter(disks);
  const Tensor area = area_of(leaf);
  const Tensor gradient = grad(area, {leaf})[0];
  return {area.item(), {gradient.values<double>().begin(), gradient.values<double>().end()}};
}

/// The largest difference between two gradients, relative to the largest component of the second.
inline double gradient_error(const AreaAndGradient& value, const AreaAndGradient& reference) {
  double worst = 0;
  for (std::size_t i = 0; i < reference.gradient.size(); ++i) {
    worst = std::max(worst, std::abs(value.gradient[i] - reference.gradient[i]));
  }
  return worst / reference.largest();
}

/// Whether no two circles are within `distance` of a tangency, where finite differences fail.
inline bool away_from_tangencies(const std::vector<geometry::Disk>& disks, double distance) {
  for (std::size_t i = 0; i < disks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const geometry::Arrangement at = geometry::arrange(disks[i], disks[j]);
      if (std::abs(at.outer_gap) < distance || std::abs(at.inner_gap) < distance) return false;
    }
  }
  return true;
}

/// Up to `max_count` nested, overlapping and disjoint disks in a square of side 4.
inline std::vector<geometry::Disk> random_disks(std::uint64_t seed, std::size_t max_count) {
  const std::size_t count = 1 + random_below({.seed = seed, .stream = 1}, max_count);
  std::vector<geometry::Disk> disks;
  for (std::size_t i = 0; i < count; ++i) {
    const auto uniform = [&](std::uint32_t stream) {
      return random_uniform({.seed = seed, .stream = stream, .index = i});
    };
    const double size = uniform(4);
    disks.push_back({4 * uniform(2), 4 * uniform(3), 0.05 + 1.5 * size * size});
  }
  return disks;
}

/// Appends copies of every second disk, and one disk inside the first.
inline std::vector<geometry::Disk> with_copies(std::vector<geometry::Disk> disks) {
  const std::size_t count = disks.size();
  for (std::size_t i = 0; i < count; i += 2) disks.push_back(disks[i]);
  disks.push_back({disks[0].x, disks[0].y, disks[0].r / 2});
  return disks;
}

}  // namespace boolgrad::testing_support
