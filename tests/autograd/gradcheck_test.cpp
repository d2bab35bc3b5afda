#include "boolgrad/autograd/gradcheck.h"

#include <gtest/gtest.h>

#include "boolgrad/autograd/custom_vjp.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/elementwise.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

TEST(Gradcheck, AcceptsACorrectDerivative) {
  const Tensor inputs[] = {random_tensor({3, 4}, DType::float64, 1),
                           random_tensor({4}, DType::float64, 2)};
  const GradcheckResult result =
      gradcheck([](std::span<const Tensor> in) { return exp(multiply(in[0], in[1])); }, inputs);
  EXPECT_TRUE(result.pass) << result.describe();
}

TensorFunction square_with_slope(double slope) {
  return custom_vjp(
      "square",
      [](std::span<const Tensor> in) {
        return ForwardResult{{multiply(in[0], in[0])}, {in[0]}};
      },
      [slope](const VjpContext& c) {
        Tensor gx = scale(multiply(c.gradient(), c.residual(0)), 2);
        gx.mutable_values<double>()[1] *= slope;
        return std::vector{gx};
      });
}

TEST(Gradcheck, LocatesAWrongDerivative) {
  const Tensor inputs[] = {Tensor::of<double>({1, 2, 3})};
  const auto check = [&](double slope) {
    const TensorFunction f = square_with_slope(slope);
    return gradcheck([&](std::span<const Tensor> in) { return f(in)[0]; }, inputs);
  };
  EXPECT_TRUE(check(1).pass);
  const GradcheckResult wrong = check(1.01);
  EXPECT_FALSE(wrong.pass);
  EXPECT_EQ(wrong.input, 0U);
  EXPECT_EQ(wrong.element, 1);
  EXPECT_NEAR(wrong.error, 0.0099, 1e-4);
  EXPECT_NE(wrong.describe().find("input 0, element 1: tape "), std::string::npos);
}

TEST(Gradcheck, RejectsNaN) {
  const Tensor inputs[] = {Tensor::of<double>({1, 2, 3})};
  const TensorFunction f = square_with_slope(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(gradcheck([&](std::span<const Tensor> in) { return f(in)[0]; }, inputs).pass);
}

TEST(Gradcheck, RequiresFloat64) {
  const Tensor inputs[] = {Tensor::ones({2}, DType::float32)};
  expect_error([&] { gradcheck([](std::span<const Tensor> in) { return in[0]; }, inputs); },
               "[gradcheck] expected float64 inputs, received float32");
}

}  // namespace
}  // namespace boolgrad
