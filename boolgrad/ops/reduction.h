// Reductions over some or all axes.
#pragma once

#include <optional>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Settings of reductions.
struct ReduceOptions {
  /// The axes to reduce; all axes if not given. An empty list reduces nothing.
  std::optional<Axes> axes = std::nullopt;
  /// Keeps the reduced axes with size 1.
  bool keepdims = false;
};

/// The sum over axes. The sum of no elements is 0.
Tensor sum(const Tensor& x, const ReduceOptions& options = {});

/// The mean over axes. The mean of no elements is NaN.
Tensor mean(const Tensor& x, const ReduceOptions& options = {});

/// The maximum over axes. Ties share the gradient equally. The result is NaN, without gradient, if
/// any element is NaN. Throws if there are no elements.
Tensor max(const Tensor& x, const ReduceOptions& options = {});
/// The minimum over axes, with the conventions of `max`.
Tensor min(const Tensor& x, const ReduceOptions& options = {});

}  // namespace boolgrad
