// A function with its own derivative.
//
// A step function is what hard logic needs, but no gradient passes through it: its derivative is 0
// wherever it has one. The straight-through estimator computes the step in the forward pass and
// passes the gradient through where the input is near the threshold. `custom_vjp` combines such a
// pair into one differentiable function.
#include <boolgrad/boolgrad.h>

#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

using boolgrad::Tensor;

namespace {

// Values: 1 above a half, 0 elsewhere. Residual: a mask of the inputs that lie in [0, 1].
boolgrad::ForwardResult step_forward(std::span<const Tensor> inputs) {
  const Tensor& x = inputs[0];
  Tensor value(x.shape(), x.dtype());
  Tensor inside(x.shape(), boolgrad::DType::uint8);
  const auto from = x.values<double>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    value.mutable_values<double>()[i] = from[i] > 0.5 ? 1 : 0;
    inside.mutable_values<std::uint8_t>()[i] = from[i] >= 0 && from[i] <= 1;
  }
  return {.values = {value}, .residuals = {inside}};
}

// The gradient of the value, where the mask is set.
std::vector<Tensor> step_backward(const boolgrad::VjpContext& context) {
  const Tensor& upstream = context.gradient();
  Tensor gradient(upstream.shape(), upstream.dtype());
  const auto inside = context.residual(0).values<std::uint8_t>();
  for (std::size_t i = 0; i < inside.size(); ++i) {
    gradient.mutable_values<double>()[i] = inside[i] != 0 ? upstream.values<double>()[i] : 0;
  }
  return {gradient};
}

}  // namespace

int main() {
  const auto step = boolgrad::custom_vjp("step", step_forward, step_backward);

  // A batch of two samples; the function takes any leading dimensions.
  const Tensor x = boolgrad::parameter(Tensor::of<double>({0.2, 0.7, 1.5, 0.4, -0.3, 0.6}, {2, 3}));
  const Tensor target = Tensor::of<double>({1, 1, 1, 0, 1, 0}, {2, 3});
  const Tensor y = step(std::vector{x})[0];
  const Tensor loss = sum_of_squares(y, target);
  const Tensor slopes = grad(loss, x);

  std::printf("     x  step(x)  target  gradient\n");
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::printf("%6.1f %8.0f %7.0f %9.1f\n", x.at(i), y.at(i), target.at(i), slopes.at(i));
  }

  // 2 (y - t) inside [0, 1], 0 outside.
  const std::vector<double> expected = {-2, 0, 0, 0, 0, 2};
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(slopes.at(i) - expected[static_cast<std::size_t>(i)]) <= 1e-12)) {
      std::printf("expected a gradient of %g\n", expected[static_cast<std::size_t>(i)]);
      return 1;
    }
  }
}
