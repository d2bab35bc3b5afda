// Copies that change the order or the type of elements.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// out's axis i is x's axis axes[i]. Any dtype.
void permute(const Tensor& x, const Axes& axes, Tensor& out);

/// Converts every element of x to the dtype of `out`.
void convert_elements(const Tensor& x, Tensor& out);

/// x in another dtype, off the tape; x itself where it has that dtype already.
Tensor converted(const Tensor& x, DType dtype);

}  // namespace boolgrad::cpu
