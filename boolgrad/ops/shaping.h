// Ops that move elements and compute nothing.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The same elements under another shape. One size may be -1: it is worked out from the others.
Tensor reshape(const Tensor& x, Shape shape);

/// Elements [begin, end) along `axis`. Negative bounds count from the end.
Tensor slice(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end);

/// Tensors of one shape and dtype along a new axis.
Tensor stack(std::span<const Tensor> tensors, std::int64_t axis = 0);

/// Tensors of one dtype, and of one shape but for the size of `axis`, one after the other along it.
Tensor concatenate(std::span<const Tensor> tensors, std::int64_t axis = 0);

/// Another dtype. Floating to integer truncates towards 0 and saturates, NaN becomes 0; the
/// gradient passes between floating dtypes and stops at integers.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace boolgrad
