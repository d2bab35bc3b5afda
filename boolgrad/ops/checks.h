// Checks at the door of every op.
#pragma once

#include <initializer_list>
#include <string_view>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Refuses undefined tensors and dtypes that differ; returns the dtype they share.
DType common_dtype(std::string_view op, std::initializer_list<Tensor> tensors);

/// The same, and refuses integer dtypes.
DType common_floating_dtype(std::string_view op, std::initializer_list<Tensor> tensors);

}  // namespace boolgrad
