// Functions that bring their own derivative, and functions whose inside is computed again.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"

namespace boolgrad {

/// What the forward of a custom function returns: its values, and what its backward will read.
/// Residuals may be of any dtype, integer labels included.
struct ForwardResult {
  std::vector<Tensor> values;
  std::vector<Tensor> residuals;
};

using CustomForward = std::function<ForwardResult(std::span<const Tensor> inputs)>;
using TensorFunction = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;

/// A differentiable function made of `forward` and the `backward` that belongs to it.
///
/// The forward runs off the tape, on whatever leading (batch) dimensions its inputs have; the
/// backward gets its residuals and the gradients of its values and returns one gradient an input.
/// A gradient of another shape or dtype than its input is refused with the function's `name`.
TensorFunction custom_vjp(std::string name, CustomForward forward, Vjp backward);

/// `function`, remembering its inputs only: backward runs it again and differentiates that run.
///
/// Trades time for memory. The function must compute the same values both times, and must get
/// every tensor that needs a gradient as an input: one that it reaches otherwise is an error.
TensorFunction recomputed(const TensorFunction& function);

}  // namespace boolgrad
