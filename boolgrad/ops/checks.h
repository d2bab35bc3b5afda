// Input checks of the ops.
#pragma once

#include <initializer_list>
#include <string_view>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The common dtype of `tensors`. Throws if one is undefined or the dtypes differ.
DType common_dtype(std::string_view op, std::initializer_list<Tensor> tensors);

/// The common floating dtype of `tensors`. Throws for integer dtypes as well.
DType common_floating_dtype(std::string_view op, std::initializer_list<Tensor> tensors);

}  // namespace boolgrad
