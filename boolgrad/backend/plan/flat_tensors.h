// Lists of tensors as one flat array of floats, which is how devices keep parameters.
#pragma once

#include <span>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// All values of float32 tensors in a row.
std::vector<float> flat(std::span<const Tensor> tensors);

/// The way back, into tensors of these shapes.
std::vector<Tensor> tensors_of(std::span<const Shape> shapes, std::span<const float> values);

}  // namespace boolgrad
