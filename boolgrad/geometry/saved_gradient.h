// Ops on sets of disks that compute value and gradient together.
#pragma once

#include <functional>
#include <span>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::geometry {

/// Returns the value for one set of disks, given as x, y, r of each, and writes the gradient.
using ValueAndGradient =
    std::function<double(std::span<const double> disks, std::span<double> gradient)>;

/// Applies `function` to every set of `disks` [..., n, 3]: [...]. The shape must be checked before;
/// the values are checked here. The forward pass saves the gradients and the backward pass scales
/// them. All dtypes are computed in float64. `name` is the name of the op.
Tensor apply_with_saved_gradient(const char* name, const Tensor& disks,
                                 const ValueAndGradient& function);

}  // namespace boolgrad::geometry
