// Arithmetic operators on tensors: the same values and gradients as the functions.
#include <gtest/gtest.h>

#include <functional>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/reduction.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

void expect_same(const Function& by_operator, const Function& by_function) {
  const Tensor a = parameter(random_tensor({2, 3}, DType::float32, 1, {1, 2, {}}));
  const Tensor b = parameter(random_tensor({3}, DType::float32, 2, {1, 2, {}}));
  const Tensor expected = by_function(a, b);
  const Tensor received = by_operator(a, b);
  EXPECT_TRUE(same_bits(received, expected));
  const std::vector<Tensor> slopes = grad(sum(received), {a, b});
  const std::vector<Tensor> expected_slopes = grad(sum(expected), {a, b});
  EXPECT_TRUE(same_bits(slopes[0], expected_slopes[0]));
  EXPECT_TRUE(same_bits(slopes[1], expected_slopes[1]));
}

TEST(Operators, AreTheFunctionsOfTwoTensors) {
  expect_same([](const Tensor& a, const Tensor& b) { return a + b; }, add);
  expect_same([](const Tensor& a, const Tensor& b) { return a - b; }, subtract);
  expect_same([](const Tensor& a, const Tensor& b) { return a * b; }, multiply);
  expect_same([](const Tensor& a, const Tensor& b) { return a / b; }, divide);
}

TEST(Operators, TakeNumbersOnBothSidesInTheDtypeOfTheTensor) {
  for (const DType dtype : {DType::float16, DType::float32, DType::float64}) {
    const Tensor x = Tensor::full({2}, 4, dtype);
    const auto value = [dtype](const Tensor& y) {
      EXPECT_EQ(y.dtype(), dtype);
      return y.at(1);
    };
    EXPECT_EQ(value(x + 3), 7);
    EXPECT_EQ(value(3 + x), 7);
    EXPECT_EQ(value(x - 3), 1);
    EXPECT_EQ(value(3 - x), -1);
    EXPECT_EQ(value(x * 3), 12);
    EXPECT_EQ(value(3 * x), 12);
    EXPECT_EQ(value(x / 8), 0.5);
    EXPECT_EQ(value(8 / x), 2);
    EXPECT_EQ(value(-x), -4);
  }
}

}  // namespace
}  // namespace boolgrad
