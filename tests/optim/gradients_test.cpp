#include "boolgrad/optim/gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.at(i));
  return values;
}

Tensor doubles(const std::vector<double>& values) { return Tensor::of(values); }

TEST(ClipByValue, ClipsEveryElement) {
  const auto clipped = clip_by_value({doubles({-250, -100, -3, 0, 100, 1e300}), Tensor()}, 100);
  EXPECT_EQ(values_of(clipped[0]), (std::vector<double>{-100, -100, -3, 0, 100, 100}));
  EXPECT_FALSE(clipped[1].defined());
}

TEST(ClipByNorm, ScalesAllGradientsTogether) {
  const std::vector<Tensor> gradients = {doubles({3, 0}), Tensor(), doubles({-4})};
  EXPECT_EQ(global_norm(gradients), 5);
  const auto clipped = clip_by_norm(gradients, 2.5);
  EXPECT_EQ(values_of(clipped[0]), (std::vector<double>{1.5, 0}));
  EXPECT_EQ(values_of(clipped[2]), (std::vector<double>{-2}));
}

TEST(ClipByNorm, KeepsGradientsWithinTheLimit) {
  const std::vector<Tensor> gradients = {doubles({3, 4})};
  EXPECT_TRUE(same_bits(clip_by_norm(gradients, 5)[0], gradients[0]));
}

TEST(GlobalNorm, IsTheSameForAnyNumberOfThreadsAndDoesNotOverflow) {
  const std::vector<Tensor> gradients = {random_tensor({70'001}, DType::float32, 1),
                                         Tensor::full({3}, 1e30, DType::float32)};
  const int before = thread_count();
  set_thread_count(1);
  const double alone = global_norm(gradients);
  set_thread_count(7);
  EXPECT_EQ(global_norm(gradients), alone);
  set_thread_count(before);
  EXPECT_NEAR(alone / (std::sqrt(3.0) * 1e30), 1, 1e-6);
}

TEST(AllFinite, FindsASingleBadElement) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Tensor good = Tensor::full({40'000}, dtype == DType::float32 ? 3e38 : 1e308, dtype);
    EXPECT_TRUE(all_finite({good, Tensor()}));
    for (const double bad : {infinity, -infinity, nan}) {
      EXPECT_FALSE(all_finite({good, Tensor::full({1}, bad, dtype)}));
    }
  }
}

TEST(WithNoise, HasTheRequestedStrengthAndIsAddressed) {
  const std::vector<Tensor> gradients = {Tensor::ones({30'000}, DType::float64),
                                         Tensor::ones({10}, DType::float64)};
  const auto noisy = with_noise(gradients, 0.5, 7, 3);
  double mean = 0;
  double square = 0;
  for (const double value : noisy[0].values<double>()) {
    mean += (value - 1) / 30'000;
    square += (value - 1) * (value - 1) / 30'000;
  }
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(std::sqrt(square), 0.5, 0.02);
  EXPECT_NE(noisy[1].at(0), noisy[0].at(0)) << "parameters must not share their noise";

  const int before = thread_count();
  set_thread_count(7);
  EXPECT_TRUE(same_bits(with_noise(gradients, 0.5, 7, 3)[0], noisy[0]));
  set_thread_count(before);
  EXPECT_FALSE(same_bits(with_noise(gradients, 0.5, 7, 4)[0], noisy[0]));
  EXPECT_FALSE(same_bits(with_noise(gradients, 0.5, 8, 3)[0], noisy[0]));
}

TEST(WithNoise, SkipsZerosWithoutShiftingAddresses) {
  const auto full = with_noise({doubles({1, 1, 1})}, 1, 2, 0);
  const auto partly = with_noise({doubles({1, 0, 1})}, 1, 2, 0);
  EXPECT_EQ(partly[0].at(0), full[0].at(0));
  EXPECT_EQ(partly[0].at(1), 0);
  EXPECT_EQ(partly[0].at(2), full[0].at(2));
}

TEST(WithNoise, DoesNotChangeItsArguments) {
  const Tensor gradient = doubles({1, 2});
  EXPECT_TRUE(same_bits(with_noise({gradient}, 0, 1, 1)[0], gradient));
  with_noise({gradient}, 1, 1, 1);
  EXPECT_EQ(values_of(gradient), (std::vector<double>{1, 2}));
}

TEST(Gradients, RejectInvalidArguments) {
  const std::vector<Tensor> gradients = {doubles({1})};
  expect_error([&] { clip_by_value(gradients, 0); },
               "[clip_by_value] expected a positive limit, received 0");
  expect_error([&] { clip_by_norm(gradients, nan); },
               "[clip_by_norm] expected a positive limit, received nan");
  expect_error([&] { with_noise(gradients, -1, 0, 0); },
               "[with_noise] expected a strength of at least 0, received -1");
  expect_error([&] { global_norm({Tensor::ones({1}, DType::int32)}); },
               "[global_norm] expected gradients of float32 or float64, received int32");
}

}  // namespace
}  // namespace boolgrad
