// Arithmetic with NumPy's broadcasting on both sides. Operands are of one floating dtype.
//
// The gradient of a broadcast operand is summed over the axes it was broadcast along while the
// product with the upstream gradient is formed.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);

/// a / b. In the gradients b is kept at least 1e-10 away from 0.
Tensor divide(const Tensor& a, const Tensor& b);

/// a^b. At a = 0, b < 1, the slope uses a = 1e-10; the derivative in b is 0 for a <= 0; both
/// derivatives are 0 where a < 0 and b is no integer (the value there is NaN).
Tensor power(const Tensor& a, const Tensor& b);

/// floor(a / b), as Python's //. Its derivative is 0.
Tensor floor_divide(const Tensor& a, const Tensor& b);

/// a - b floor(a / b), as Python's %. Derivatives 1 and -floor(a / b).
Tensor modulo(const Tensor& a, const Tensor& b);

/// factor * a, for a constant factor.
Tensor scale(const Tensor& a, double factor);

}  // namespace boolgrad
