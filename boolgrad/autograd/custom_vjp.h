// Custom derivatives and gradient checkpointing.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"

namespace boolgrad {

/// The result of a custom forward pass.
struct ForwardResult {
  std::vector<Tensor> values;     ///< the outputs
  std::vector<Tensor> residuals;  ///< saved for the backward pass; of any dtype
};

/// The forward pass of a custom function.
using CustomForward = std::function<ForwardResult(std::span<const Tensor> inputs)>;
/// A function of tensors.
using TensorFunction = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;

/// A differentiable function with a custom derivative.
///
/// `forward` is not recorded. `backward` reads its residuals and the gradients of its values, and
/// returns one gradient per input. A gradient whose shape or dtype differs from its input is an
/// error that names the function.
TensorFunction custom_vjp(std::string name, CustomForward forward, Vjp backward);

/// Gradient checkpointing: saves only the inputs of `function` and runs it again in the backward
/// pass.
///
/// The function must be deterministic. Every tensor that needs a gradient must be an input: a
/// captured one is an error.
TensorFunction recomputed(const TensorFunction& function);

}  // namespace boolgrad
