#include "boolgrad/ops/elementwise.h"

#include <numbers>

#include "boolgrad/core/fail.h"
#include "boolgrad/ops/unary.h"

namespace boolgrad {

using cpu::MapKernel;

// (e^x)' = e^x
Tensor exp(const Tensor& x) {
  return unary("exp", {MapKernel::exp, MapKernel::multiply, Saves::output}, x);
}

// (ln x)' = 1/x
Tensor log(const Tensor& x) {
  return unary("log", {MapKernel::log, MapKernel::log_grad, Saves::input}, x, {}, {1});
}

// (log2 x)' = 1/(x ln 2)
Tensor log2(const Tensor& x) {
  return unary("log2", {MapKernel::log2, MapKernel::log_grad, Saves::input}, x, {},
               {std::numbers::log2e});
}

// (log10 x)' = 1/(x ln 10)
Tensor log10(const Tensor& x) {
  return unary("log10", {MapKernel::log10, MapKernel::log_grad, Saves::input}, x, {},
               {std::numbers::log10e});
}

// (sqrt x)' = 1/(2 sqrt x)
Tensor sqrt(const Tensor& x) {
  return unary("sqrt", {MapKernel::sqrt, MapKernel::sqrt_grad, Saves::output}, x);
}

// |x|' = sign x
Tensor abs(const Tensor& x) {
  return unary("abs", {MapKernel::abs, MapKernel::abs_grad, Saves::input}, x);
}

Tensor clip(const Tensor& x, double low, double high) {
  if (!(low <= high)) {
    fail("clip", "expected low to be at most high, received {} and {}", low, high);
  }
  // Bounds are rounded to the precision of x, so that elements at a bound compare equal to it.
  const DType dtype = common_floating_dtype("clip", {x});
  const cpu::MapParameters bounds{Tensor::scalar(low, dtype).item(),
                                  Tensor::scalar(high, dtype).item()};
  return unary("clip", {MapKernel::clip, MapKernel::clip_grad, Saves::input}, x, bounds, bounds);
}

}  // namespace boolgrad
