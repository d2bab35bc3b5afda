// Ops that rearrange or convert elements.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The same elements under another shape. One size may be -1 and is inferred from the others.
Tensor reshape(const Tensor& x, Shape shape);

/// Elements [begin, end) along `axis`. Negative bounds count from the end.
Tensor slice(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end);

/// Joins tensors of equal shape and dtype along a new axis.
Tensor stack(std::span<const Tensor> tensors, std::int64_t axis = 0);

/// Joins tensors along an existing axis. Dtypes and all other sizes must be equal.
Tensor concatenate(std::span<const Tensor> tensors, std::int64_t axis = 0);

/// Converts to another dtype. Floating to integer truncates towards 0 and saturates; NaN becomes 0.
/// The gradient passes between floating dtypes and stops at integers.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace boolgrad
