// Error messages for invalid input.
#include <gtest/gtest.h>

#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/elementwise.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

Tensor ones(const Shape& shape, DType dtype = DType::float32) { return Tensor::ones(shape, dtype); }

TEST(Messages, Arithmetic) {
  expect_error(
      [] {
        add(ones({2, 3}), ones({4}));
      },
      "[add] expected shapes that broadcast, received [2, 3] and [4]");
  expect_error([] { multiply(ones({2}), ones({2}, DType::float64)); },
               "[multiply] expected one dtype, received float32 and float64");
  expect_error([] { divide(ones({2}, DType::int32), ones({2}, DType::int32)); },
               "[divide] expected a floating dtype, received int32");
  expect_error([] { add(Tensor(), ones({2})); },
               "[add] expected a tensor, received an undefined one");
}

TEST(Messages, Reduction) {
  expect_error(
      [] {
        sum(ones({2, 3}), {.axes = Axes{2}});
      },
      "[sum] expected an axis within 2 dimensions, received 2");
  expect_error(
      [] {
        mean(ones({2, 3}), {.axes = Axes{0, -2}});
      },
      "[mean] expected each axis once, received axis 0 twice");
  expect_error([] { max(ones({0})); },
               "[max] expected at least one element to choose from, received shape [0]");
  expect_error(
      [] {
        min(ones({2, 0}), {.axes = Axes{1}});
      },
      "[min] expected at least one element to choose from, received shape [2, 0]");
  EXPECT_EQ(max(ones({0, 3}), {.axes = Axes{1}}).size(), 0);
}

TEST(Messages, Matrix) {
  expect_error(
      [] {
        matmul(ones({2, 3}), ones({4, 5}));
      },
      "[matmul] expected inner sizes that agree, received [2, 3] and [4, 5]");
  expect_error([] { matmul(ones({}), ones({4})); },
               "[matmul] expected at least one dimension on both sides, received [] and [4]");
  expect_error(
      [] {
        matmul(ones({2, 3, 4}), ones({3, 4, 5}));
      },
      "[matmul] expected shapes that broadcast, received [2] and [3]");
  expect_error([] { transpose(ones({2, 3}), Axes{0}); }, "[transpose] expected 2 axes, received 1");
  expect_error(
      [] {
        transpose(ones({2, 3}), Axes{0, 0});
      },
      "[transpose] expected each axis once, received axis 0 twice");
}

TEST(Messages, Activation) {
  expect_error([] { softmax(ones({2}), 1); },
               "[softmax] expected an axis within 1 dimensions, received 1");
  expect_error(
      [] {
        prelu(ones({2, 3}), ones({2}));
      },
      "[prelu] expected a slope of one element or one per channel (axis 1), received [2] "
      "for [2, 3]");
  expect_error([] { relu(ones({2}, DType::uint8)); },
               "[relu] expected a floating dtype, received uint8");
  expect_error([] { clip(ones({2}), 1, -1); },
               "[clip] expected low to be at most high, received 1 and -1");
}

TEST(Messages, Loss) {
  expect_error([] { sum_of_squares(ones({2}), ones({3})); },
               "[sum_of_squares] expected a target of shape [2], received [3]");
  expect_error([] { focal(ones({2}), ones({2}), {.gamma = -1}); },
               "[focal] expected gamma of 0 or more, received -1");
  expect_error(
      [] {
        cross_entropy(ones({2, 3}), ones({2}));
      },
      "[cross_entropy] expected labels of int32 or int64, received float32");
  expect_error(
      [] {
        cross_entropy(ones({2, 3}), ones({3}, DType::int64));
      },
      "[cross_entropy] expected labels of shape [2], received [3]");
  expect_error(
      [] {
        cross_entropy(ones({2, 3}), Tensor::of<std::int32_t>({0, 3}));
      },
      "[cross_entropy] expected labels below 3 classes, received 3 at sample 1");
}

TEST(Messages, Shaping) {
  expect_error(
      [] {
        reshape(ones({2, 3}), {4, -1});
      },
      "[reshape] expected a shape of 6 elements, received [4, -1]");
  expect_error(
      [] {
        reshape(ones({2, 3}), {7});
      },
      "[reshape] expected a shape of 6 elements, received [7]");
  expect_error([] { slice(ones({5}), 0, 2, 6); },
               "[slice] expected ascending bounds between 0 and 5, received 2 and 6");
  expect_error([] { slice(ones({5}), 0, 3, 2); },
               "[slice] expected ascending bounds between 0 and 5, received 3 and 2");
  expect_error([] { stack({}); }, "[stack] expected at least one tensor, received none");
  const Tensor uneven[] = {ones({2}), ones({3})};
  expect_error([&] { stack(uneven); },
               "[stack] expected tensors of one shape, received [2] and [3]");
}

}  // namespace
}  // namespace boolgrad
