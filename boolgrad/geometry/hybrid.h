// Fits disks to a target area of their union.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/geometry/smoothed_area.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::geometry {

/// The gradient that a fit follows.
enum class AreaMethod : std::uint8_t {
  exact,     ///< unbiased, but without interaction between disjoint disks
  smoothed,  ///< interaction at any distance, but biased
  hybrid     ///< starts with the smoothed gradient, finishes with the exact one
};

/// Options of `fit_union_area`.
struct FitOptions {
  AreaMethod method = AreaMethod::hybrid;
  /// Temperature times sharpness should not exceed 1, or distant disks repel each other.
  SmoothedOptions smoothed = {.temperature = 0.1, .sharpness = 10, .cell = 0.5};
  /// The hybrid method switches to the exact gradient when the relative error of the smoothed area
  /// is below this, or after half of the steps.
  double switch_tolerance = 1e-2;
  /// Converged when the relative error of the area in use is below this.
  double tolerance = 1e-12;
  std::int64_t max_steps = 200;
  /// The largest Euclidean length of a step over all free parameters.
  double max_step_length = 0.25;
};

/// The state before a step, or after the last.
struct FitStep {
  double area = 0;        ///< exact, for all methods
  bool smoothed = false;  ///< whether the next step uses the smoothed gradient
};

/// The result of `fit_union_area`.
struct FitResult {
  Tensor disks;
  std::vector<FitStep> history;
  double error = 0;        ///< |exact area - target| / target
  bool converged = false;  ///< whether the area in use reached the target
  /// Whether the fit stopped because the gradient of all free parameters is 0.
  bool stuck = false;
};

/// Changes the parameters of `disks` [n, 3] where `free`, of the same shape, is not 0, until the
/// area of the union is `target`.
///
/// Each step is the Newton step of least norm, (target - area) g / |g|^2, shortened to
/// `max_step_length`. Radii stay nonnegative.
FitResult fit_union_area(const Tensor& disks, const Tensor& free, double target,
                         const FitOptions& options = {});

}  // namespace boolgrad::geometry
