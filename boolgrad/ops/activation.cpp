#include "boolgrad/ops/activation.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "boolgrad/backend/cpu/tensor/permute.h"
#include "boolgrad/backend/cpu/tensor/softmax.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/unary.h"

namespace boolgrad {
namespace {

using cpu::MapKernel;

template <class T>
Tensor integer_relu(const Tensor& x) {
  Tensor y(x.shape(), x.dtype());
  std::ranges::transform(x.values<T>(), y.mutable_values<T>().begin(),
                         [](T value) { return std::max(value, T{0}); });
  return y;
}

// y = f(x) for a function that saturates. Close to its limits the difference is lost to rounding,
// so the gradient kernel reads y within bounds and x beyond them.
Tensor saturating(std::string_view op, MapKernel forward, MapKernel gradient, const Tensor& x,
                  const cpu::MapParameters& bounds) {
  Tensor y(x.shape(), common_floating_dtype(op, {x}));
  cpu::map(forward, {x}, y);
  return record(op, {x}, y, {y, x}, [gradient, bounds](const VjpContext& c) {
    Tensor gx(c.gradient().shape(), c.gradient().dtype());
    cpu::map(gradient, {c.gradient(), c.residual(0), c.residual(1)}, gx, bounds);
    return std::vector{gx};
  });
}

// The shape under which `slope` broadcasts against x: one element, or axis 1 of x.
Shape slope_shape(const Tensor& x, const Tensor& slope) {
  if (slope.size() == 1) return {1};
  const bool fits = x.rank() >= 2 && slope.rank() == 1 && slope.size() == x.shape()[1];
  if (!fits) {
    fail("prelu", "expected a slope of one element or one per channel (axis 1), received {} for {}",
         to_string(slope.shape()), to_string(x.shape()));
  }
  Shape shape(x.rank() - 1, 1);
  shape[0] = slope.size();
  return shape;
}

}  // namespace

Tensor relu(const Tensor& x) {
  if (x.dtype() == DType::int32) return integer_relu<std::int32_t>(x);
  if (x.dtype() == DType::int64) return integer_relu<std::int64_t>(x);
  return unary("relu", {MapKernel::relu, MapKernel::relu_grad, Saves::input}, x);
}

Tensor leaky_relu(const Tensor& x, double alpha) {
  return unary("leaky_relu", {MapKernel::leaky_relu, MapKernel::leaky_relu_grad, Saves::input}, x,
               {alpha}, {alpha});
}

// d/dx = 1 above 0, slope elsewhere; d/dslope = x below 0
Tensor prelu(const Tensor& x, const Tensor& slope) {
  const DType dtype = common_floating_dtype("prelu", {x, slope});
  const Shape aligned = slope_shape(x, slope);
  Tensor y(x.shape(), dtype);
  cpu::map(MapKernel::prelu, {x, slope.viewed_as(aligned)}, y);
  return record("prelu", {x, slope}, y, {x, slope}, [aligned](const VjpContext& c) {
    const Tensor& g = c.gradient();
    const Tensor& x = c.residual(0);
    const Tensor slope = c.residual(1).viewed_as(aligned);
    std::vector<Tensor> gradients(2);
    if (c.needs[0]) {
      gradients[0] = Tensor(x.shape(), x.dtype());
      cpu::map(MapKernel::prelu_grad_x, {g, x, slope}, gradients[0]);
    }
    if (c.needs[1]) {
      Tensor summed(aligned, x.dtype());
      cpu::map_sum(MapKernel::prelu_grad_slope, {g, x}, x.shape(), summed);
      gradients[1] = summed.viewed_as(c.residual(1).shape());
    }
    return gradients;
  });
}

// y' = y (1 - y); in the tails e / (1 + e)^2 with e = e^-|x|
Tensor sigmoid(const Tensor& x) {
  // The rounding of y is within 1e-5 (float16: 2e-3) of 1 - y up to the upper bound. Below the
  // lower one float16 runs out of digits.
  const bool is_half = x.dtype() == DType::float16;
  return saturating("sigmoid", MapKernel::sigmoid, MapKernel::sigmoid_grad, x,
                    {is_half ? 0.25 : 0, is_half ? 0.75 : 0.96875});
}

// y' = 1 - y^2; in the tails 4 e / (1 + e)^2 with e = e^(-2 |x|)
Tensor tanh(const Tensor& x) {
  const double bound = x.dtype() == DType::float16 ? 0.75 : 0.96875;
  return saturating("tanh", MapKernel::tanh, MapKernel::tanh_grad, x, {-bound, bound});
}

Tensor gelu(const Tensor& x, GeluKind kind) {
  if (kind == GeluKind::tanh) {
    return unary("gelu", {MapKernel::gelu_tanh, MapKernel::gelu_tanh_grad, Saves::input}, x);
  }
  return unary("gelu", {MapKernel::gelu, MapKernel::gelu_grad, Saves::input}, x);
}

// dx = y (g - sum g y), a difference of nearly equal numbers. For float16 it is computed in
// float32, from a y saved in float32.
Tensor softmax(const Tensor& x, std::int64_t axis) {
  const DType dtype = common_floating_dtype("softmax", {x});
  const DType inside = dtype == DType::float16 ? DType::float32 : dtype;
  const auto view = cpu::axis_view(x.shape(), resolve_axis("softmax", axis, x.rank()));
  Tensor y(x.shape(), inside);
  cpu::softmax(cpu::converted(x, inside), view, y);
  return record("softmax", {x}, cpu::converted(y, dtype), {y}, [view](const VjpContext& c) {
    const Tensor& y = c.residual(0);
    Tensor gx(y.shape(), y.dtype());
    cpu::softmax_grad(cpu::converted(c.gradient(), y.dtype()), y, view, gx);
    return std::vector{cpu::converted(gx, c.gradient().dtype())};
  });
}

}  // namespace boolgrad
