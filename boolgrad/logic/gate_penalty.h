// A differentiable estimate of the size of a circuit.
#pragma once

#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// A differentiable count of gates that depend on two and more inputs, from tables [gates,
/// 2^arity]: the sum of D_i D_j over gates and pairs of inputs, where D_j is the mean squared
/// change of a table with input j. It is 0 for constants, buffers and inverters. Of two inputs,
/// AND-like gates have 1/4 and an XOR has 1.
Tensor two_input_gates(const std::vector<Tensor>& tables);

}  // namespace boolgrad::logic
