// Matrix products and transposition.
#pragma once

#include <optional>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The matrix product, as in NumPy: matrices, a vector on either side, and leading dimensions as a
/// batch that broadcasts. float16 is multiplied in float32.
Tensor matmul(const Tensor& a, const Tensor& b);

/// Permutes axes: axis i of the result is axis `axes[i]` of x. Reverses all axes by default.
Tensor transpose(const Tensor& x, const std::optional<Axes>& axes = std::nullopt);

}  // namespace boolgrad
