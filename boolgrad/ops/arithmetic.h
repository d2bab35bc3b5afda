// Arithmetic with NumPy broadcasting. Both operands have the same floating dtype.
//
// The gradient of a broadcast operand is summed over the broadcast axes in the same pass that
// multiplies by the upstream gradient.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// a + b.
Tensor add(const Tensor& a, const Tensor& b);
/// a - b.
Tensor subtract(const Tensor& a, const Tensor& b);
/// The elementwise product a * b.
Tensor multiply(const Tensor& a, const Tensor& b);

/// a / b. The gradients keep b at least 1e-10 away from 0.
Tensor divide(const Tensor& a, const Tensor& b);

/// a^b. The derivative in a uses a = 1e-10 at a = 0, b < 1. The derivative in b is 0 for a <= 0.
/// Both are 0 if a < 0 and b is not an integer (the value is NaN).
Tensor power(const Tensor& a, const Tensor& b);

/// floor(a / b), like `//` in Python. The derivative is 0.
Tensor floor_divide(const Tensor& a, const Tensor& b);

/// a - b floor(a / b), like `%` in Python. The derivatives are 1 and -floor(a / b).
Tensor modulo(const Tensor& a, const Tensor& b);

/// factor * a for a constant factor.
Tensor scale(const Tensor& a, double factor);

/// @name Operators
/// Elementwise arithmetic. A number on either side takes the dtype of the tensor.
/// @{
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator-(const Tensor& a) { return scale(a, -1); }

inline Tensor operator+(const Tensor& a, double b) { return a + Tensor::scalar(b, a.dtype()); }
inline Tensor operator+(double a, const Tensor& b) { return Tensor::scalar(a, b.dtype()) + b; }
inline Tensor operator-(const Tensor& a, double b) { return a - Tensor::scalar(b, a.dtype()); }
inline Tensor operator-(double a, const Tensor& b) { return Tensor::scalar(a, b.dtype()) - b; }
inline Tensor operator*(const Tensor& a, double b) { return scale(a, b); }
inline Tensor operator*(double a, const Tensor& b) { return scale(b, a); }
inline Tensor operator/(const Tensor& a, double b) { return a / Tensor::scalar(b, a.dtype()); }
inline Tensor operator/(double a, const Tensor& b) { return Tensor::scalar(a, b.dtype()) / b; }
/// @}

}  // namespace boolgrad
