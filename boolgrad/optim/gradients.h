// Gradient preprocessing. An undefined tensor stands for a zero gradient and stays undefined.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Whether every element is finite.
bool all_finite(const std::vector<Tensor>& gradients);

/// Clips every element to [-limit, limit].
std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double limit);

/// The Euclidean norm of all gradients together, summed in double and in a fixed order.
double global_norm(const std::vector<Tensor>& gradients);

/// Scales all gradients by one factor so that their global norm is at most `limit`.
std::vector<Tensor> clip_by_norm(const std::vector<Tensor>& gradients, double limit);

/// Adds normal noise of standard deviation `strength`, sampled at (seed, step).
///
/// An element that is exactly 0 stays 0: it belongs to a gate that is masked or has no effect on
/// the output. AdamW normalises by the gradient magnitude, so noise alone would move such
/// parameters as fast as a real gradient.
std::vector<Tensor> with_noise(const std::vector<Tensor>& gradients, double strength,
                               std::uint64_t seed, std::uint32_t step);

}  // namespace boolgrad
