// The softmax over sixteen gates and the table it mixes, many gates at a time.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// tables [gates, 4] of logits [gates, 16], float32 or float64. `shares` [16, gates] receives the
/// softmax, for the gradient.
void softmax16(const Tensor& logits, Tensor& tables, Tensor& shares);

/// Gradient of the logits from that of the tables.
void softmax16_grad(const Tensor& g, const Tensor& shares, Tensor& logits_grad);

}  // namespace boolgrad::cpu
