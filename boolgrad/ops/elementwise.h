// Functions of one tensor, element by element.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

Tensor exp(const Tensor& x);

/// Logarithms. -infinity at 0, NaN below. In the gradient x is kept at least 1e-10 away from 0.
Tensor log(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);

/// In the gradient 1 / (2 sqrt x) the root is at least 1e-10.
Tensor sqrt(const Tensor& x);

/// |x|, derivative 0 at 0.
Tensor abs(const Tensor& x);

/// min(max(x, low), high). The gradient passes inside and at both bounds.
Tensor clip(const Tensor& x, double low, double high);

}  // namespace boolgrad
