// Activation functions.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// max(x, 0), derivative 0 at 0. Also for int32 and int64, which have no gradient.
Tensor relu(const Tensor& x);

/// x above 0, alpha x elsewhere; derivative alpha at 0.
Tensor leaky_relu(const Tensor& x, double alpha = 0.01);

/// x above 0, slope * x elsewhere. `slope` has one element, or one a channel: as many as axis 1
/// of x is long.
Tensor prelu(const Tensor& x, const Tensor& slope);

Tensor sigmoid(const Tensor& x);
Tensor tanh(const Tensor& x);

enum class GeluForm : std::uint8_t { exact, tanh };

/// x P(x), P the normal distribution function, or the approximation of it by a tanh.
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::exact);

/// Softmax along an axis.
Tensor softmax(const Tensor& x, std::int64_t axis = -1);

}  // namespace boolgrad
