#include "boolgrad/optim/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/parallel.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A scalar reference implementation of AdamW from the paper.
struct PlainAdamW {
  AdamWOptions options;
  double p = 0;
  double m = 0;
  double v = 0;
  int t = 0;

  void step(double g, double rate) {
    ++t;
    m = options.beta1 * m + (1 - options.beta1) * g;
    v = options.beta2 * v + (1 - options.beta2) * g * g;
    const double m_hat = m / (1 - std::pow(options.beta1, t));
    const double v_hat = v / (1 - std::pow(options.beta2, t));
    p = p - rate * options.weight_decay * p - rate * m_hat / (std::sqrt(v_hat) + options.epsilon);
  }
};

Tensor random_values(std::int64_t size, DType dtype, std::uint64_t seed) {
  return random_tensor({size}, dtype, seed, {.low = -2, .high = 2, .kinks = {}});
}

class AdamWDTypes : public ::testing::TestWithParam<DType> {};

TEST_P(AdamWDTypes, AgreesWithThePlainFormulaOverManySteps) {
  const AdamWOptions options{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1};
  constexpr std::int64_t size = 37;  // not a multiple of any vector length
  Tensor p = parameter(random_values(size, GetParam(), 1));
  std::vector<PlainAdamW> plain;
  for (std::int64_t i = 0; i < size; ++i) plain.push_back({.options = options, .p = p.at(i)});
  AdamW optimiser({p}, options);
  for (std::uint64_t step = 0; step < 50; ++step) {
    const Tensor g = random_values(size, GetParam(), 100 + step);
    const double rate = 0.1 / static_cast<double>(step + 1);
    optimiser.step({g}, rate);
    for (std::int64_t i = 0; i < size; ++i) {
      plain[static_cast<std::size_t>(i)].step(g.at(i), rate);
    }
  }
  const double tolerance = GetParam() == DType::float64 ? 1e-13 : 1e-5;
  for (std::int64_t i = 0; i < size; ++i) {
    const PlainAdamW& expected = plain[static_cast<std::size_t>(i)];
    EXPECT_NEAR(p.at(i), expected.p, tolerance);
    EXPECT_NEAR(optimiser.state().first[0].at(i), expected.m, tolerance);
    EXPECT_NEAR(optimiser.state().second[0].at(i), expected.v, tolerance);
  }
}

// The first step has the size of the learning rate, whatever the gradient. So has the second step
// with the same gradient.
TEST_P(AdamWDTypes, FirstStepsAreTheSignOfTheGradient) {
  Tensor p = Tensor::of(std::vector<double>{1, 1, 1});
  if (GetParam() == DType::float32) p = Tensor::of(std::vector<float>{1, 1, 1});
  Tensor g = Tensor::of(std::vector<double>{4, -0.25, 0});
  if (GetParam() == DType::float32) g = Tensor::of(std::vector<float>{4, -0.25F, 0});
  AdamW optimiser({p}, {});
  const double tolerance = GetParam() == DType::float64 ? 1e-8 : 1e-6;
  for (int step = 1; step <= 2; ++step) {
    optimiser.step({g}, 0.125);
    EXPECT_NEAR(p.at(0), 1 - 0.125 * step, tolerance);
    EXPECT_NEAR(p.at(1), 1 + 0.125 * step, tolerance);
    EXPECT_EQ(p.at(2), 1);
  }
}

TEST_P(AdamWDTypes, WeightDecayAloneShrinksParameters) {
  Tensor p = Tensor::full({5}, 2, GetParam());
  AdamW optimiser({p}, {.weight_decay = 0.5});
  optimiser.step({Tensor::zeros({5}, GetParam())}, 0.25);
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(p.at(i), 2 * (1 - 0.25 * 0.5));
}

// Masked gates get a gradient of exactly 0 and must not change by a single bit, not even from -0 to
// 0.
TEST_P(AdamWDTypes, ZeroGradientWithZeroMomentsLeavesEveryBit) {
  Tensor p = random_values(1000, GetParam(), 3);
  visit_dtype(GetParam(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      p.mutable_values<T>()[0] = -T{0};
      p.mutable_values<T>()[1] = std::numeric_limits<T>::denorm_min();
      p.mutable_values<T>()[2] = std::numeric_limits<T>::max();
    }
  });
  const Tensor before = p.clone();
  AdamW optimiser({p}, {});
  for (int step = 0; step < 100; ++step) {
    optimiser.step({step % 2 == 0 ? Tensor::zeros({1000}, GetParam()) : Tensor()}, 0.7);
  }
  EXPECT_TRUE(same_bits(p, before));
  EXPECT_TRUE(same_bits(optimiser.state().first[0], Tensor::zeros({1000}, GetParam())));
  EXPECT_EQ(optimiser.state().step, 100);
}

TEST_P(AdamWDTypes, SameBitsForAnyNumberOfThreads) {
  std::vector<Tensor> results;
  const int before = thread_count();
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    Tensor p = random_values(100'003, GetParam(), 5);
    AdamW optimiser({p}, {.weight_decay = 0.01});
    for (std::uint64_t step = 0; step < 3; ++step) {
      optimiser.step({random_values(100'003, GetParam(), 6 + step)}, 0.1);
    }
    results.push_back(p);
  }
  set_thread_count(before);
  EXPECT_TRUE(same_bits(results[0], results[1]));
  EXPECT_TRUE(same_bits(results[0], results[2]));
}

TEST_P(AdamWDTypes, ARestoredStateContinuesWithTheSameBits) {
  Tensor straight = random_values(50, GetParam(), 8);
  Tensor stopped = straight.clone();
  AdamW whole({straight}, {});
  AdamW first({stopped}, {});
  for (std::uint64_t step = 0; step < 5; ++step) {
    whole.step({random_values(50, GetParam(), 20 + step)}, 0.1);
    first.step({random_values(50, GetParam(), 20 + step)}, 0.1);
  }
  AdamW second({stopped}, {});
  second.restore(first.state());
  first.step({random_values(50, GetParam(), 99)}, 0);  // must not affect the restored copy
  for (std::uint64_t step = 5; step < 10; ++step) {
    whole.step({random_values(50, GetParam(), 20 + step)}, 0.1);
    second.step({random_values(50, GetParam(), 20 + step)}, 0.1);
  }
  EXPECT_TRUE(same_bits(straight, stopped));
  EXPECT_TRUE(same_bits(whole.state().second[0], second.state().second[0]));
}

INSTANTIATE_TEST_SUITE_P(All, AdamWDTypes, ::testing::Values(DType::float32, DType::float64),
                         [](const auto& dtype) { return std::string(to_string(dtype.param)); });

TEST(AdamW, RejectsInvalidArguments) {
  const Tensor p = Tensor::zeros({2, 3}, DType::float32);
  expect_error([&] { AdamW({p}, {.beta1 = 1}); },
               "[adamw] expected beta1 of at least 0 and below 1, received 1");
  expect_error([&] { AdamW({p}, {.beta2 = nan}); },
               "[adamw] expected beta2 of at least 0 and below 1, received nan");
  expect_error([&] { AdamW({p}, {.epsilon = 0}); },
               "[adamw] expected a positive epsilon, received 0");
  expect_error([&] { AdamW({p}, {.weight_decay = -1}); },
               "[adamw] expected a weight decay of at least 0, received -1");
  expect_error([&] { AdamW({Tensor::zeros({2}, DType::float16)}, {}); },
               "[adamw] expected parameters of float32 or float64, received float16");

  AdamW optimiser({p}, {});
  expect_error([&] { optimiser.step({p}, nan); },
               "[adamw] expected a learning rate of at least 0, received nan");
  expect_error([&] { optimiser.step({}, 0.1); }, "[adamw] expected 1 gradients, received 0");
  expect_error([&] { optimiser.step({Tensor::zeros({3}, DType::float32)}, 0.1); },
               "[adamw] expected gradient 0 to be float32 [2, 3], received float32 [3]");
  expect_error([&] { optimiser.restore({}); },
               "[adamw] expected moments of 1 parameters, received 0 and 0");
  expect_error(
      [&] {
        optimiser.restore(
            {.step = 1, .first = {p}, .second = {Tensor::zeros({2, 3}, DType::float64)}});
      },
      "[adamw] expected second moment 0 to be float32 [2, 3], received float64 [2, 3]");
  expect_error([&] { optimiser.restore({.step = -1, .first = {p}, .second = {p}}); },
               "[adamw] expected a step of at least 0, received -1");
}

}  // namespace
}  // namespace boolgrad
