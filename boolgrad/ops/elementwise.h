// Elementwise functions of one tensor.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// e^x.
Tensor exp(const Tensor& x);

/// The natural logarithm: -infinity at 0, NaN below. The gradient keeps x at least 1e-10 away from
/// 0.
Tensor log(const Tensor& x);
/// The logarithm to base 2, with the conventions of `log`.
Tensor log2(const Tensor& x);
/// The logarithm to base 10, with the conventions of `log`.
Tensor log10(const Tensor& x);

/// The square root. The gradient 1 / (2 sqrt x) uses a root of at least 1e-10.
Tensor sqrt(const Tensor& x);

/// |x|, with derivative 0 at 0.
Tensor abs(const Tensor& x);

/// min(max(x, low), high). The gradient is 1 inside and at both bounds, 0 outside.
Tensor clip(const Tensor& x, double low, double high);

}  // namespace boolgrad
