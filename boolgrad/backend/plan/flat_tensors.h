// Conversion between lists of tensors and flat arrays of floats, in which devices store parameters.
#pragma once

#include <span>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The concatenated values of float32 tensors.
std::vector<float> flat(std::span<const Tensor> tensors);

/// Splits values into tensors of the given shapes.
std::vector<Tensor> tensors_of(std::span<const Shape> shapes, std::span<const float> values);

}  // namespace boolgrad
