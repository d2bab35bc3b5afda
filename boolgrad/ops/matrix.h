// Matrix products and permutations of axes.
#pragma once

#include <optional>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// NumPy's matmul: 2-D by 2-D, a vector on either side, leading dimensions as a batch that
/// broadcasts. float16 is multiplied in float32.
Tensor matmul(const Tensor& a, const Tensor& b);

/// Axis i of the result is axis `axes[i]` of x; all axes reversed where none are given.
Tensor transpose(const Tensor& x, const std::optional<Axes>& axes = std::nullopt);

}  // namespace boolgrad
