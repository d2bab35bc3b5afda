#include "boolgrad/ops/shaping.h"

#include <gtest/gtest.h>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/reduction.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

std::vector<double> values_of(const Tensor& x) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < x.size(); ++i) values.push_back(x.at(i));
  return values;
}

using Values = std::vector<double>;

Tensor counting(const Shape& shape, DType dtype) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return cast(Tensor::of(values, shape), dtype);
}

void expect_true_derivative(const std::function<Tensor(std::span<const Tensor>)>& f,
                            const std::vector<Tensor>& inputs) {
  const GradcheckResult result = gradcheck(f, inputs);
  EXPECT_TRUE(result.pass) << result.describe();
}

TEST(Reshape, InfersOneSize) {
  EXPECT_EQ(reshape(counting({2, 6}, DType::int32), {3, -1, 2}).shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(reshape(Tensor::zeros({0, 3}, DType::uint8), {3, 0}).size(), 0);
  EXPECT_EQ(reshape(Tensor::zeros({1, 1}, DType::uint8), {}).rank(), 0U);
}

TEST(Slice, CutsAlongAnyAxis) {
  const Tensor x = counting({3, 4}, DType::int64);
  EXPECT_EQ(values_of(slice(x, 0, 1, 2)), (Values{4, 5, 6, 7}));
  EXPECT_EQ(values_of(slice(x, 1, 1, 3)), (Values{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(values_of(slice(x, -1, -2, 4)), (Values{2, 3, 6, 7, 10, 11}));
  EXPECT_EQ(slice(x, 1, 2, 2).shape(), (Shape{3, 0}));
}

TEST(Stack, MakesANewAxisAnywhere) {
  const Tensor parts[] = {counting({2}, DType::uint8), counting({2}, DType::uint8)};
  EXPECT_EQ(values_of(stack(parts)), (Values{0, 1, 0, 1}));
  EXPECT_EQ(values_of(stack(parts, -1)), (Values{0, 0, 1, 1}));
  EXPECT_EQ(stack(parts, 1).shape(), (Shape{2, 2}));
}

TEST(Concatenate, JoinsAlongAnAxis) {
  const Tensor parts[] = {counting({2, 1}, DType::uint8), counting({2, 2}, DType::uint8)};
  EXPECT_EQ(values_of(concatenate(parts, 1)), (Values{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(concatenate(parts, -1).shape(), (Shape{2, 3}));
  const Tensor other[] = {counting({2, 1}, DType::uint8), counting({3, 1}, DType::uint8)};
  EXPECT_EQ(values_of(concatenate(other)), (Values{0, 1, 0, 1, 2}));
  expect_error([&] { concatenate(other, 1); },
               "[concatenate] expected tensors of one shape but for axis 1, received [2, 1] and "
               "[3, 1]");
}

TEST(Cast, ChangesTheTypeAndPassesGradients) {
  const Tensor x = Tensor::of<double>({-1.5, 0, 300});
  EXPECT_EQ(values_of(cast(x, DType::uint8)), (Values{0, 0, 255}));
  EXPECT_EQ(values_of(cast(x, DType::int32)), (Values{-1, 0, 300}));
  const Tensor leaf = parameter(x);
  const Tensor slopes = grad(sum(cast(leaf, DType::float16)), leaf);
  EXPECT_EQ(slopes.dtype(), DType::float64);
  EXPECT_EQ(values_of(slopes), (Values{1, 1, 1}));
  EXPECT_FALSE(needs_grad(cast(leaf, DType::int32)));
}

TEST(Shaping, PassesGradcheck) {
  const Tensor x = random_tensor({3, 4, 2}, DType::float64, 1);
  const Tensor y = random_tensor({3, 4, 2}, DType::float64, 2);
  for (const std::int64_t axis : {0, 1, 2}) {
    expect_true_derivative([&](auto in) { return slice(in[0], axis, 1, 2); }, {x});
    expect_true_derivative([&](auto in) { return stack(in, axis); }, {x, y});
    expect_true_derivative([&](auto in) { return concatenate(in, axis); }, {x, y});
  }
  expect_true_derivative([](auto in) { return reshape(in[0], {4, 6}); }, {x});
}

// Every permutation of five axes, in every element size, against the definition.
TEST(Transpose, FollowsItsDefinition) {
  const Shape shape{2, 3, 1, 4, 5};
  Axes axes{0, 1, 2, 3, 4};
  do {
    for (const DType dtype : {DType::uint8, DType::float16, DType::float32, DType::float64}) {
      const Tensor x = counting(shape, dtype);
      const Tensor y = transpose(x, axes);
      const std::vector<std::int64_t> from = row_major_strides(shape);
      const std::vector<std::int64_t> to = row_major_strides(y.shape());
      for (std::int64_t i = 0; i < y.size(); ++i) {
        std::int64_t rest = i;
        std::int64_t source = 0;
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
          source += rest / to[axis] * from[static_cast<std::size_t>(axes[axis])];
          rest %= to[axis];
        }
        ASSERT_EQ(y.at(i), x.at(source));
      }
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
}

TEST(Transpose, IsItsOwnInverseOnLargeMatrices) {
  const Tensor x = random_tensor({123, 457}, DType::float32, 1);
  EXPECT_TRUE(same_bits(transpose(transpose(x)), x));
  const Tensor y = random_tensor({17, 33, 65}, DType::float32, 2);
  EXPECT_TRUE(same_bits(transpose(transpose(y, Axes{2, 0, 1}), Axes{1, 2, 0}), y));
}

TEST(EmptyShapes, WorkEverywhere) {
  const Tensor none = parameter(Tensor::zeros({0, 3}, DType::float32));
  const Tensor three = parameter(Tensor::ones({3}, DType::float32));
  const Tensor product = multiply(none, three);
  EXPECT_EQ(product.shape(), (Shape{0, 3}));
  const std::vector<Tensor> gradients = grad(sum(product), {none, three});
  EXPECT_EQ(gradients[0].shape(), (Shape{0, 3}));
  EXPECT_EQ(values_of(gradients[1]), (Values{0, 0, 0}));
  EXPECT_EQ(sum(none).item(), 0);
  EXPECT_TRUE(std::isnan(mean(none).item()));
  EXPECT_EQ(softmax(none).size(), 0);
  EXPECT_EQ(softmax(none, 0).size(), 0);
  EXPECT_EQ(transpose(none).shape(), (Shape{3, 0}));
  const Tensor inner =
      matmul(Tensor::ones({2, 0}, DType::float32), Tensor::ones({0, 3}, DType::float32));
  EXPECT_EQ(values_of(inner), Values(6, 0));
  EXPECT_EQ(values_of(sum(none, {.axes = Axes{0}})), (Values{0, 0, 0}));
}

}  // namespace
}  // namespace boolgrad
