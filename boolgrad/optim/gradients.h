// What happens to gradients between backward and the optimiser. An undefined tensor stands for a
// gradient of zero and stays one.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Whether no element is NaN or infinite.
bool all_finite(const std::vector<Tensor>& gradients);

/// Gradients with every element brought into [-limit, limit].
std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double limit);

/// The Euclidean norm of all gradients together, in double and in a fixed order.
double global_norm(const std::vector<Tensor>& gradients);

/// Gradients scaled down so that their norm is at most `limit`; as they are where it already is.
std::vector<Tensor> clip_by_norm(const std::vector<Tensor>& gradients, double limit);

/// Gradients with normal noise of standard deviation `strength` added, drawn at (seed, step).
///
/// An element that is exactly 0 stays so: it belongs to a gate that is switched off or cannot be
/// heard, and because AdamW divides by the size of what it gets, the faintest noise alone would
/// move its parameters as fast as a real gradient.
std::vector<Tensor> with_noise(const std::vector<Tensor>& gradients, double strength,
                               std::uint64_t seed, std::uint32_t step);

}  // namespace boolgrad
