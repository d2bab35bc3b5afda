#include "boolgrad/tensor/tensor.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/messages.h"

namespace boolgrad {
namespace {

TEST(Shape, Broadcasts) {
  EXPECT_EQ(broadcast_shapes("op", {3, 1, 5}, {4, 1}), (Shape{3, 4, 5}));
  EXPECT_EQ(broadcast_shapes("op", {}, {2}), (Shape{2}));
  EXPECT_EQ(broadcast_shapes("op", {0, 3}, {1, 3}), (Shape{0, 3}));
  expect_error(
      [] {
        broadcast_shapes("add", {2, 3}, {4});
      },
      "[add] expected shapes that broadcast, received [2, 3] and [4]");
  expect_error([] { broadcast_shapes("add", {0}, {2}); },
               "[add] expected shapes that broadcast, received [0] and [2]");
}

TEST(Shape, ResolvesAxes) {
  EXPECT_EQ(resolve_axis("sum", -1, 3), 2);
  EXPECT_EQ(resolve_axes("sum", Axes{-1, 0}, 3), (Axes{0, 2}));
  EXPECT_EQ(resolve_axes("sum", std::nullopt, 2), (Axes{0, 1}));
  expect_error([] { resolve_axis("sum", 3, 3); },
               "[sum] expected an axis within 3 dimensions, received 3");
  expect_error(
      [] {
        resolve_axes("sum", Axes{1, -2}, 3);
      },
      "[sum] expected each axis once, received axis 1 twice");
}

TEST(Shape, RejectsInvalidSizes) {
  expect_error(
      [] {
        element_count({2, -1});
      },
      "[shape] expected sizes of 0 or more, received [2, -1]");
  expect_error(
      [] {
        element_count({std::int64_t{1} << 40, std::int64_t{1} << 40});
      },
      "[shape] expected fewer than 2^62 elements, received [1099511627776, 1099511627776]");
  EXPECT_EQ(element_count({std::int64_t{1} << 40, 0, std::int64_t{1} << 10}), 0);
}

TEST(Tensor, HoldsValues) {
  const Tensor x = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(x.rank(), 2U);
  EXPECT_EQ(x.size(), 6);
  EXPECT_EQ(x.bytes(), 24U);
  EXPECT_EQ(x.values<float>()[4], 5);
  EXPECT_EQ(x.at(5), 6);
  EXPECT_EQ(Tensor::scalar(2.5, DType::float16).item(), 2.5);
  EXPECT_EQ(Tensor::zeros({0, 4}, DType::int64).size(), 0);
  EXPECT_FALSE(Tensor().defined());
}

TEST(Tensor, ViewsShareAndClonesDoNot) {
  Tensor x = Tensor::of<std::int32_t>({1, 2, 3, 4});
  const Tensor view = x.viewed_as({2, 2});
  const Tensor tail = x.viewed_from(2, {2});
  const Tensor copy = x.clone();
  x.mutable_values<std::int32_t>()[3] = 9;
  EXPECT_EQ(view.at(3), 9);
  EXPECT_EQ(tail.at(1), 9);
  EXPECT_EQ(copy.at(3), 4);
  EXPECT_FALSE(x.owns_memory_alone());
  EXPECT_TRUE(copy.owns_memory_alone());
}

TEST(Tensor, RejectsInvalidArguments) {
  const Tensor x = Tensor::zeros({2, 3}, DType::float32);
  expect_error([&] { x.values<double>(); },
               "[tensor] expected a tensor of float64, received float32");
  expect_error([&] { x.item(); }, "[item] expected one element, received shape [2, 3]");
  expect_error([&] { x.viewed_as({7}); }, "[reshape] expected a shape of 6 elements, received [7]");
  expect_error([&] { x.at(6); }, "[at] expected an index below 6, received 6");
  expect_error(
      [] {
        Tensor::of<float>({1, 2}, {3});
      },
      "[tensor] expected 3 values for shape [3], received 2");
  expect_error([] { Tensor().values<float>(); },
               "[tensor] expected a tensor with values, received an undefined one");
}

TEST(Storage, IsReusedAndReleased) {
  const void* first = nullptr;
  {
    const Tensor x({1 << 20}, DType::float32);
    first = x.data();
  }
  {
    const Tensor y({1 << 20}, DType::float32);
    EXPECT_EQ(y.data(), first);
  }
  release_cached_memory();
  const Tensor z = Tensor::ones({1 << 20}, DType::float32);
  EXPECT_EQ(z.at(12345), 1);
}

TEST(Tensor, WrapsMemoryOfOthers) {
  auto values = std::make_shared<std::vector<float>>(std::vector<float>{9, 1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> alive = values;
  {
    // Not aligned to a cache line.
    const Tensor x = Tensor::wrap(values->data() + 1, {2, 2}, DType::float32, values);
    values.reset();
    EXPECT_EQ(x.at(3), 4);
    EXPECT_EQ(x.data(), alive.lock()->data() + 1) << "copied";
    const Tensor row = x.viewed_from(2, {2});
    EXPECT_EQ(row.at(0), 3);
    EXPECT_FALSE(alive.expired());
  }
  EXPECT_TRUE(alive.expired()) << "the owner outlives the tensors";
  float one = 1;
  expect_error([&] { Tensor::wrap(&one, {1}, DType::float32, nullptr); },
               "[storage] expected an owner of the memory, received none");
}

}  // namespace
}  // namespace boolgrad
