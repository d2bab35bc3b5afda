// Softmax and cross-entropy along one axis, forward and backward, for float32 and float64. float16
// is converted first, because the gradients are differences of nearly equal numbers.
#pragma once

#include "boolgrad/backend/cpu/tensor/extremum.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// y = softmax(x) along the axis.
void softmax(const Tensor& x, const AxisView& view, Tensor& y);

/// gx = y (g - sum of g y): one pass for the sum, one for the result.
void softmax_grad(const Tensor& g, const Tensor& y, const AxisView& view, Tensor& gx);

/// Computes the largest logit and the logarithm of the sum of e^(x - largest) for each of outer *
/// inner samples, in float64 for float64 and in float32 for the others. They are returned
/// separately, because their sum would lose precision for large logits.
void log_sum_exp(const Tensor& x, const AxisView& view, Tensor& largest, Tensor& log_sum);

/// gx = factor g (softmax(x) - 1 at the label), where g is a scalar. `labels` is int64.
void cross_entropy_grad(const Tensor& x, const Tensor& labels, const Tensor& largest,
                        const Tensor& log_sum, double factor, const AxisView& view, Tensor& gx);

}  // namespace boolgrad::cpu
