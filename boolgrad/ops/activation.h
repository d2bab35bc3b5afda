// Activation functions.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// max(x, 0), with derivative 0 at 0. Also accepts int32 and int64, which have no gradient.
Tensor relu(const Tensor& x);

/// x for x > 0, alpha x otherwise, with derivative alpha at 0.
Tensor leaky_relu(const Tensor& x, double alpha = 0.01);

/// x for x > 0, slope * x otherwise. `slope` has one element, or one per channel (axis 1 of x).
Tensor prelu(const Tensor& x, const Tensor& slope);

/// 1 / (1 + e^-x).
Tensor sigmoid(const Tensor& x);
/// The hyperbolic tangent.
Tensor tanh(const Tensor& x);

/// The exact GELU, or its approximation by a tanh.
enum class GeluKind : std::uint8_t { exact, tanh };

/// x P(x), where P is the cumulative distribution function of the standard normal distribution.
Tensor gelu(const Tensor& x, GeluKind kind = GeluKind::exact);

/// The softmax along an axis.
Tensor softmax(const Tensor& x, std::int64_t axis = -1);

}  // namespace boolgrad
