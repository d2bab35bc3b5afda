// The conventions of docs/conventions.md, each from both sides and at the point, in all precisions.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/elementwise.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/reduction.h"

namespace boolgrad {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Conventions : public testing::TestWithParam<DType> {
 protected:
  Tensor row(const std::vector<double>& values) const {
    Tensor result({static_cast<std::int64_t>(values.size())}, GetParam());
    visit_dtype(GetParam(), [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t i = 0; i < values.size(); ++i) {
        result.mutable_values<T>()[i] = convert<T>(values[i]);
      }
    });
    return result;
  }

  /// Derivatives of f at each x, upstream 1.
  std::vector<double> slopes(const std::function<Tensor(const Tensor&)>& f,
                             const std::vector<double>& x) const {
    const Tensor leaf = parameter(row(x));
    const Tensor y = f(leaf);
    return values_of(grad(y, leaf, {.upstream = Tensor::ones(y.shape(), y.dtype())}));
  }

  /// Derivatives of f in its first and second operand.
  std::pair<std::vector<double>, std::vector<double>> slopes(Tensor (*f)(const Tensor&,
                                                                         const Tensor&),
                                                             const std::vector<double>& a,
                                                             const std::vector<double>& b) const {
    const Tensor left = parameter(row(a));
    const Tensor right = parameter(row(b));
    const Tensor y = f(left, right);
    const std::vector<Tensor> gradients =
        grad(y, {left, right}, {.upstream = Tensor::ones(y.shape(), y.dtype())});
    return {values_of(gradients[0]), values_of(gradients[1])};
  }

  static std::vector<double> values_of(const Tensor& x) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < x.size(); ++i) values.push_back(x.at(i));
    return values;
  }

  double largest() const {
    if (GetParam() == DType::float16) return Float16::largest;
    if (GetParam() == DType::float32) return std::numeric_limits<float>::max();
    return std::numeric_limits<double>::max();
  }

  double rounded(double value) const { return Tensor::scalar(value, GetParam()).item(); }

  using Values = std::vector<double>;
};

TEST_P(Conventions, AbsIsFlatAtZero) {
  EXPECT_EQ(slopes(abs, {-1, -1e-4, 0, -0.0, 1e-4, 1}), (Values{-1, -1, 0, 0, 1, 1}));
}

TEST_P(Conventions, ReluIsFlatAtZero) {
  EXPECT_EQ(slopes(relu, {-1, -1e-4, 0, -0.0, 1e-4, 1}), (Values{0, 0, 0, 0, 1, 1}));
}

TEST_P(Conventions, LeakyReluUsesAlphaAtZero) {
  const auto leaky = [](const Tensor& x) { return leaky_relu(x, 0.25); };
  EXPECT_EQ(slopes(leaky, {-1, -1e-4, 0, 1e-4, 1}), (Values{0.25, 0.25, 0.25, 1, 1}));
}

TEST_P(Conventions, PreluUsesTheSlopeAtZero) {
  const Tensor x = parameter(row({-2, -0.5, 0, 0.5, 2}));
  const Tensor slope = parameter(row({0.25}));
  const std::vector<Tensor> gradients =
      grad(prelu(x, slope), {x, slope}, {.upstream = row({1, 1, 1, 1, 1})});
  EXPECT_EQ(values_of(gradients[0]), (Values{0.25, 0.25, 0.25, 1, 1}));
  EXPECT_EQ(gradients[1].item(), -2.5);
}

TEST_P(Conventions, ClipPassesTheGradientAtBothBounds) {
  const auto clipped = [](const Tensor& x) { return clip(x, -1, 0.1); };
  EXPECT_EQ(slopes(clipped, {-1.01, -1, -0.99, 0.09, 0.1, 0.11}), (Values{0, 1, 1, 1, 1, 0}));
}

TEST_P(Conventions, TiesInMaxAndMinShareTheGradient) {
  const auto largest_of = [](const Tensor& x) { return max(x); };
  const auto smallest_of = [](const Tensor& x) { return min(x); };
  EXPECT_EQ(slopes(largest_of, {1, 3, 2, 3}), (Values{0, 0.5, 0, 0.5}));
  EXPECT_EQ(slopes(smallest_of, {1, 3, 1, 1}),
            (Values{rounded(1.0 / 3), 0, rounded(1.0 / 3), rounded(1.0 / 3)}));
  EXPECT_EQ(slopes(largest_of, {1, 3.01, 2, 3}), (Values{0, 1, 0, 0}));
  EXPECT_EQ(slopes(largest_of, {1, 2.99, 2, 3}), (Values{0, 0, 0, 1}));
  EXPECT_EQ(slopes(largest_of, {0.0, -0.0, -1}), (Values{0.5, 0.5, 0}));
}

TEST_P(Conventions, NotANumberWinsAndStopsTheGradient) {
  const Tensor x = parameter(row({1, std::nan(""), 3}));
  const Tensor y = max(x);
  EXPECT_TRUE(std::isnan(y.item()));
  EXPECT_EQ(values_of(grad(y, x)), (Values{0, 0, 0}));
}

TEST_P(Conventions, FloorDivideIsFlat) {
  const auto [a, b] = slopes(floor_divide, {-7, -6, -5, 5, 6, 7}, {3, 3, 3, 3, 3, 3});
  EXPECT_EQ(a, Values(6, 0));
  EXPECT_EQ(b, Values(6, 0));
  EXPECT_EQ(values_of(floor_divide(row({-7, -6, 7, 7}), row({3, 3, -3, 3}))),
            (Values{-3, -2, -3, 2}));
}

TEST_P(Conventions, ModuloFollowsPythonAndHasFloorAsSlope) {
  EXPECT_EQ(values_of(modulo(row({-7, -6, 7, 7, 5.5}), row({3, 3, -3, 3, 2}))),
            (Values{2, 0, -2, 1, 1.5}));
  const auto [a, b] = slopes(modulo, {-7, -6, -5.75, 5.75, 6, 7}, {3, 3, 3, 3, 3, 3});
  EXPECT_EQ(a, Values(6, 1));
  EXPECT_EQ(b, (Values{3, 2, 2, -1, -2, -2}));
}

// Remainders stay within [0, b) where a rounded quotient would step outside.
TEST_P(Conventions, ModuloStaysInRange) {
  for (const double b : {0.1, 0.3, 0.7, 1.1}) {
    for (int k = -40; k <= 40; ++k) {
      const double divisor = rounded(b);
      const double remainder = modulo(row({k * divisor}), row({b})).item();
      EXPECT_GE(remainder, 0) << k << " " << b;
      EXPECT_LT(remainder, divisor) << k << " " << b;
    }
  }
}

TEST_P(Conventions, PowerAtBaseZero) {
  const auto [a, b] = slopes(power, {0, 0, 0, 0, 0}, {3, 1, 0, 2, 1.5});
  EXPECT_EQ(a, (Values{0, 1, 0, 0, 0}));
  EXPECT_EQ(b, Values(5, 0));
  EXPECT_EQ(values_of(power(row({0, 0, 0}), row({2, 0, -1}))), (Values{0, 1, infinity}));
  const auto steep = slopes(power, {0, 0}, {0.5, -3}).first;
  EXPECT_NEAR(steep[0] / std::min(5e4, largest()), 1, 1e-3);  // 0.5 (1e-10)^-0.5
  EXPECT_TRUE(std::isfinite(steep[1]));
  EXPECT_LT(steep[1], 0);
}

TEST_P(Conventions, PowerOfNegativeBases) {
  EXPECT_EQ(values_of(power(row({-2, -2, -2}), row({3, 2, -1}))), (Values{-8, 4, -0.5}));
  EXPECT_TRUE(std::isnan(power(row({-2}), row({0.5})).item()));
  const auto [a, b] = slopes(power, {-2, -2, -2, -2}, {3, 2, 0, 0.5});
  EXPECT_EQ(a, (Values{12, -4, 0, 0}));
  EXPECT_EQ(b, Values(4, 0));
}

TEST_P(Conventions, GradientsAtZeroAreFloored) {
  const double top = largest();
  const double floored = std::min(1e10, top);
  const auto near = [&](double actual, double expected) {
    return std::abs(actual / expected - 1) < 1e-3;
  };
  EXPECT_TRUE(near(slopes(log, {0})[0], floored));
  EXPECT_TRUE(near(slopes(log2, {0})[0], std::min(1e10 / std::log(2.0), top)));
  EXPECT_TRUE(near(slopes(log10, {0})[0], std::min(1e10 / std::log(10.0), top)));
  EXPECT_TRUE(near(slopes(sqrt, {0})[0], std::min(0.5e10, top)));
  const auto [a, b] = slopes(divide, {1, 1, 0}, {0, -0.0, 0});
  EXPECT_TRUE(near(a[0], floored));
  EXPECT_TRUE(near(a[1], -floored));
  EXPECT_TRUE(near(b[0], -std::min(1e20, top)));
  EXPECT_EQ(b[2], 0);
}

// The floor applies only below 1e-10: small values are not biased.
TEST_P(Conventions, TheFloorDoesNotBiasOtherValues) {
  if (GetParam() == DType::float16) {
    EXPECT_EQ(slopes(log, {0.25, -0.25})[0], 4);
    EXPECT_EQ(slopes(sqrt, {0.0625})[0], 2);
    return;
  }
  const double relative = GetParam() == DType::float32 ? 1e-6 : 1e-15;
  for (const double x : {1e-9, 1e-5, 1.0, 1e5}) {
    EXPECT_NEAR(slopes(log, {x})[0] * rounded(x), 1, relative);
    EXPECT_NEAR(slopes(divide, {1}, {x}).first[0] * rounded(x), 1, relative);
    EXPECT_NEAR(slopes(divide, {1}, {-x}).second[0] * rounded(x) * rounded(x), -1, 2 * relative);
  }
  EXPECT_NEAR(slopes(log, {-2})[0], -0.5, 1e-9);
}

TEST_P(Conventions, ForwardEdgesAreThoseOfTheStandard) {
  EXPECT_EQ(log(row({0})).item(), -infinity);
  EXPECT_EQ(log2(row({0})).item(), -infinity);
  EXPECT_EQ(log10(row({0})).item(), -infinity);
  EXPECT_TRUE(std::isnan(log(row({-1})).item()));
  EXPECT_EQ(log(row({infinity})).item(), infinity);
  EXPECT_EQ(divide(row({1}), row({0})).item(), infinity);
  EXPECT_EQ(exp(row({-infinity})).item(), 0);
  EXPECT_EQ(exp(row({infinity})).item(), infinity);
  EXPECT_EQ(exp(row({1e4})).item(), infinity);
  for (Tensor (*f)(const Tensor&) : {exp, log, log2, log10, sqrt, abs, relu, sigmoid, tanh}) {
    EXPECT_TRUE(std::isnan(f(row({std::nan("")})).item()));
  }
  EXPECT_TRUE(std::isnan(clip(row({std::nan("")}), -1, 1).item()));
}

TEST_P(Conventions, NothingOverflowsFarOut) {
  const double far = GetParam() == DType::float16 ? Float16::largest : 1e4;
  const std::vector<double> x{-far, -100, -1, 0, 1, 100, far};
  const auto exact = [](const Tensor& t) { return gelu(t); };
  const auto by_tanh = [](const Tensor& t) { return gelu(t, GeluKind::tanh); };
  const auto soft = [](const Tensor& t) { return softmax(t); };
  const std::function<Tensor(const Tensor&)> functions[] = {
      [](const Tensor& t) { return sigmoid(t); }, [](const Tensor& t) { return tanh(t); }, exact,
      by_tanh, soft};
  for (const auto& f : functions) {
    for (const double value : values_of(f(row(x)))) EXPECT_TRUE(std::isfinite(value));
    for (const double slope : slopes(f, x)) EXPECT_TRUE(std::isfinite(slope));
  }
  EXPECT_EQ(values_of(sigmoid(row({-far, far}))), (Values{0, 1}));
  EXPECT_EQ(values_of(exact(row({-far, far}))), (Values{0, rounded(far)}));
  EXPECT_EQ(values_of(by_tanh(row({-far, far}))), (Values{0, rounded(far)}));
  EXPECT_EQ(slopes(exact, {-far, far}), (Values{0, 1}));
  EXPECT_EQ(slopes(by_tanh, {-far, far}), (Values{0, 1}));
  EXPECT_EQ(values_of(softmax(row({far, far, -far}))), (Values{0.5, 0.5, 0}));
}

TEST_P(Conventions, CrossEntropyStaysExactForLargeLogits) {
  const double far = GetParam() == DType::float16 ? Float16::largest : 1e4;
  const Tensor logits = parameter(Tensor(row({far, far, -far}).viewed_as({1, 3})));
  const Tensor right = cross_entropy(logits, Tensor::of<std::int64_t>({1}));
  EXPECT_NEAR(right.item(), std::log(2.0), 1e-3);
  EXPECT_EQ(values_of(grad(right, logits)), (Values{0.5, -0.5, 0}));
  const Tensor wrong = cross_entropy(logits, Tensor::of<std::int64_t>({2}));
  EXPECT_NEAR(wrong.item() / std::min(2 * far, largest()), 1, 1e-3);
}

TEST_P(Conventions, BinaryLossesAreFiniteAtCertainty) {
  const Tensor y = parameter(row({0, 1, 0, 1}));
  const Tensor target = row({1, 0, 0, 1});
  for (const auto& loss : {binary_cross_entropy(y, target), focal(y, target)}) {
    EXPECT_TRUE(std::isfinite(loss.item()));
    EXPECT_GT(loss.item(), 30);
    const std::vector<Tensor> gradients = grad(loss, {y});
    EXPECT_EQ(values_of(gradients[0]), Values(4, 0));  // outside the clip
  }
}

TEST_P(Conventions, BinaryCrossEntropyPassesTheGradientInsideTheClip) {
  const auto loss = [&](const Tensor& y) { return binary_cross_entropy(y, row({1})); };
  EXPECT_NEAR(slopes(loss, {0.25})[0], -4, 4e-3);
  if (GetParam() == DType::float16) return;  // 1e-7 is not representable
  EXPECT_NEAR(slopes(loss, {1.01e-7})[0] / -1e7, 1, 0.02);
  EXPECT_EQ(slopes(loss, {0.99e-7})[0], 0);
  EXPECT_NEAR(slopes(loss, {1e-7})[0] / -1e7, 1, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Precision, Conventions,
                         testing::Values(DType::float16, DType::float32, DType::float64),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(IntegerRelu, HasNoGradient) {
  const Tensor y = relu(Tensor::of<std::int32_t>({-2, 0, 3}));
  EXPECT_EQ(y.dtype(), DType::int32);
  EXPECT_EQ(y.at(0), 0);
  EXPECT_EQ(y.at(2), 3);
  const std::int64_t big = std::int64_t{1} << 60;
  EXPECT_EQ(relu(Tensor::of<std::int64_t>({-big, big})).values<std::int64_t>()[1], big);
  EXPECT_FALSE(needs_grad(y));
}

}  // namespace
}  // namespace boolgrad
