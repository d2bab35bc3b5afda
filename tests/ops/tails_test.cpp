// Small derivatives far from 0 keep their relative precision down to the smallest normal number.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/activation.h"

namespace boolgrad {
namespace {

using Function = std::function<double(double)>;

double sigmoid_slope(double x) {
  const double e = std::exp(-std::abs(x));
  return e / ((1 + e) * (1 + e));
}

double tanh_slope(double x) { return 4 * sigmoid_slope(2 * x); }

double gelu_slope(double x) {
  const double cdf = 0.5 * std::erfc(-x / std::sqrt(2.0));
  return cdf + x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
}

struct Case {
  const char* name;
  Tensor (*op)(const Tensor&);
  Function slope;
  double furthest;    ///< |x| beyond which the derivative underflows even in float64
  double margin = 1;  ///< factor above the smallest normal number from which precision is expected
};

const std::vector<Case> cases{
    {"sigmoid", sigmoid, sigmoid_slope, 800},
    {"tanh", tanh, tanh_slope, 400},
    {"gelu", [](const Tensor& x) { return gelu(x); }, gelu_slope, 40, 20},
};

/// The smallest normal number of a dtype, and the allowed relative error above it.
struct Precision {
  DType dtype;
  double smallest;
  double tolerance;
};

const std::vector<Precision> precisions{
    {DType::float16, 6.104e-5, 2e-3},
    {DType::float32, 1.21e-38, 1e-5},
    {DType::float64, 2.3e-308, 1e-12},
};

/// Points over the whole range, dense where derivatives of float16 are small.
Tensor grid(DType dtype, double furthest) {
  std::vector<double> points;
  for (double x = 0; x < 20; x += 0.03125) points.push_back(x);
  for (double x = 20; x < furthest; x += 0.25) points.push_back(x);
  Tensor result({std::ssize(points) * 2}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto values = result.mutable_values<T>();
    for (std::size_t i = 0; i < points.size(); ++i) {
      values[2 * i] = convert<T>(points[i]);
      values[2 * i + 1] = convert<T>(-points[i]);
    }
  });
  return result;
}

TEST(Tails, DerivativesKeepTheirRelativePrecision) {
  for (const Case& of : cases) {
    for (const Precision& precision : precisions) {
      const Tensor x = parameter(grid(precision.dtype, of.furthest));
      const Tensor y = of.op(x);
      const Tensor slopes = grad(y, x, {.upstream = Tensor::ones(y.shape(), y.dtype())});
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const double expected = of.slope(x.at(i));
        // The derivative of gelu crosses 0 near -0.75, where relative precision is meaningless.
        const bool crosses = of.op != sigmoid && of.op != tanh && std::abs(x.at(i) + 0.75) < 0.1;
        if (crosses) continue;
        const double smallest = of.margin * precision.smallest;
        if (std::abs(expected) < smallest) {
          EXPECT_LE(std::abs(slopes.at(i)), 1.01 * smallest) << of.name << x.at(i);
        } else {
          EXPECT_TRUE(std::abs(slopes.at(i) - expected) <= precision.tolerance * std::abs(expected))
              << of.name << " of " << to_string(precision.dtype) << " at " << x.at(i) << ": "
              << slopes.at(i) << " for " << expected;
        }
      }
    }
  }
}

TEST(Tails, DerivativesAtInfinityAreZeroAndAtNaNAreNaN) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Case& of : {cases[0], cases[1]}) {
    for (const Precision& precision : precisions) {
      for (const double at : {infinity, -infinity, std::nan("")}) {
        const Tensor x = parameter(Tensor::full({3}, at, precision.dtype));
        const Tensor y = of.op(x);
        const Tensor slopes = grad(y, x, {.upstream = Tensor::ones(y.shape(), y.dtype())});
        if (std::isnan(at)) EXPECT_TRUE(std::isnan(slopes.at(1))) << of.name;
        else EXPECT_EQ(slopes.at(1), 0) << of.name;
      }
    }
  }
}

}  // namespace
}  // namespace boolgrad
