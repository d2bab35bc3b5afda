// Functions of sets of disks that compute their gradient along with their value.
#pragma once

#include <functional>
#include <span>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The value at one set of disks, as x, y, r of one after the other; writes the gradient.
using ValueAndGradient =
    std::function<double(std::span<const double> disks, std::span<double> gradient)>;

/// Applies `function` to every set of `disks` [..., n, 3], of a shape that was checked: [...].
/// The forward saves the gradients, and the backward scales them. Computed in float64 whatever the
/// dtype. Checks the numbers of the disks and calls the place `name`.
Tensor apply_with_saved_gradient(const char* name, const Tensor& disks,
                                 const ValueAndGradient& function);

}  // namespace boolgrad
