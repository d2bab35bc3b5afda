// Shared code of unary ops.
#pragma once

#include <string_view>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/ops/checks.h"

namespace boolgrad {

/// The tensor that the gradient kernel reads besides the upstream gradient.
enum class Saves : std::uint8_t { input, output };

struct UnaryKernels {
  cpu::MapKernel forward;
  cpu::MapKernel gradient;  ///< of (g, saved)
  Saves saves;
};

/// y = f(x), with the gradient kernel applied to (g, x) or (g, y).
inline Tensor unary(std::string_view op, const UnaryKernels& kernels, const Tensor& x,
                    const cpu::MapParameters& forward_parameters = {},
                    const cpu::MapParameters& gradient_parameters = {}) {
  Tensor y(x.shape(), common_floating_dtype(op, {x}));
  cpu::map(kernels.forward, {x}, y, forward_parameters);
  return record(op, {x}, y, {kernels.saves == Saves::input ? x : y},
                [gradient = kernels.gradient, gradient_parameters](const VjpContext& c) {
                  const Tensor& g = c.gradient();
                  Tensor gx(g.shape(), g.dtype());
                  cpu::map(gradient, {g, c.residual(0)}, gx, gradient_parameters);
                  return std::vector{gx};
                });
}

}  // namespace boolgrad
