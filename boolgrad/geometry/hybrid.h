// Moving disks until their union has a wanted area.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/geometry/smoothed_area.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

enum class AreaMethod : std::uint8_t {
  exact,     ///< no blur, and no gradient from a disk to one that it does not touch
  smoothed,  ///< a gradient everywhere, and the blur's bias in the answer
  hybrid     ///< explores with the smoothed gradient, finishes with the exact one
};

struct FitOptions {
  AreaMethod method = AreaMethod::hybrid;
  /// With temperature times sharpness above 1, disks that are far apart would repel each other.
  SmoothedOptions smoothed = {.temperature = 0.1, .sharpness = 10, .cell = 0.5};
  /// Hybrid turns exact when the smoothed area is this near to the target, relative to it, or has
  /// taken half of the steps.
  double explored = 1e-2;
  /// Done when the area that is used is this near to the target, relative to it.
  double tolerance = 1e-12;
  std::int64_t most_steps = 200;
  /// No step is longer than this, over all free numbers together.
  double longest_step = 0.25;
};

/// The union before a step, or after the last.
struct FitStep {
  double area = 0;        ///< exact, whatever the method
  bool smoothed = false;  ///< whether the smoothed gradient leads on from here
};

struct FitResult {
  Tensor disks;
  std::vector<FitStep> history;
  double error = 0;        ///< |exact area - target| / target
  bool converged = false;  ///< whether the area that was used reached the target
  /// Whether it stopped because no free number has a gradient.
  bool stuck = false;
};

/// Moves the numbers of `disks` [n, 3] where `free` (of the same shape) is not 0 until the area of
/// the union is `target`.
///
/// A step goes along the gradient as far as the area, were it linear, would take to reach the
/// target (Newton's step of least length), and at most `longest_step`. Radii stay at 0 or above.
FitResult fit_union_area(const Tensor& disks, const Tensor& free, double target,
                         const FitOptions& options = {});

}  // namespace boolgrad
