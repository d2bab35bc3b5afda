// Copies that permute axes or convert elements.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// Permutes axes: axis i of `out` is axis axes[i] of x. Any dtype.
void permute(const Tensor& x, const Axes& axes, Tensor& out);

/// Converts every element of x to the dtype of `out`.
void convert_elements(const Tensor& x, Tensor& out);

/// x converted to another dtype, detached from the tape; x itself if it already has that dtype.
Tensor converted(const Tensor& x, DType dtype);

}  // namespace boolgrad::cpu
