// The softmax16 parametrisation, vectorised over gates.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// Computes tables [gates, 4] from logits [gates, 16], float32 or float64. `shares` [16, gates]
/// receives the softmax, for the gradient.
void softmax16(const Tensor& logits, Tensor& tables, Tensor& shares);

/// Computes the gradient of the logits from that of the tables.
void softmax16_grad(const Tensor& g, const Tensor& shares, Tensor& logits_grad);

}  // namespace boolgrad::cpu
