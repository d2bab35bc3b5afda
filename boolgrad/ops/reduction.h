// Sums, means and extrema over no axis given (all), one or several.
#pragma once

#include <optional>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct ReduceOptions {
  /// Axes to reduce; none given reduces all of them, an empty list reduces nothing.
  std::optional<Axes> axes = std::nullopt;
  /// Leaves the reduced axes in place with size 1.
  bool keepdims = false;
};

/// The sum of no elements is 0.
Tensor sum(const Tensor& x, const ReduceOptions& options = {});

/// The mean of no elements is NaN.
Tensor mean(const Tensor& x, const ReduceOptions& options = {});

/// Elements that tie for the largest (smallest) share its gradient equally. NaN if any element is
/// NaN, and then no gradient. Throws where there is no element to choose.
Tensor max(const Tensor& x, const ReduceOptions& options = {});
Tensor min(const Tensor& x, const ReduceOptions& options = {});

}  // namespace boolgrad
