#include "boolgrad/logic/thresholds.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

Thresholds three_bits() { return {2, {0, 1, 1}, Tensor::of<float>({0.5F, 10, 20})}; }

TEST(Thresholds, SetBitsAboveTheThreshold) {
  const Tensor samples = Tensor::of<std::uint8_t>({0, 10, 1, 11, 5, 21}, {3, 2});
  const BitMatrix bits = three_bits().bits_of(samples);
  const Tensor bytes = three_bits().bytes_of(samples);
  const std::vector<int> expected = {0, 0, 0, 1, 1, 0, 1, 1, 1};
  for (std::int64_t s = 0; s < 3; ++s) {
    for (std::int64_t b = 0; b < 3; ++b) {
      EXPECT_EQ(bits.at(b, s), expected[static_cast<std::size_t>(s * 3 + b)] == 1);
      EXPECT_EQ(bytes.at(s * 3 + b), expected[static_cast<std::size_t>(s * 3 + b)]);
    }
  }
}

TEST(Thresholds, RoundTripThroughAFile) {
  TensorFile file;
  EXPECT_FALSE(Thresholds::is_in(file));
  three_bits().save(file);
  ASSERT_TRUE(Thresholds::is_in(file));
  const Thresholds read = Thresholds::from_file(file);
  EXPECT_EQ(read.features(), 2);
  EXPECT_EQ(read.sources()[2], 1);
  EXPECT_EQ(read.values().at(1), 10);
}

TEST(Thresholds, RejectInvalidArguments) {
  expect_error(
      [] {
        Thresholds(2, {0, 2}, Tensor::of<float>({1, 1}));
      },
      "[thresholds] expected sources below 2 features, received 2");
  expect_error(
      [] {
        Thresholds(2, {0, 1}, Tensor::of<float>({1}));
      },
      "[thresholds] expected thresholds of float32 [2] for at least one bit, received float32 [1]");
  expect_error([] { Thresholds(1, {0}, Tensor::of<float>({INFINITY})); },
               "[thresholds] expected finite thresholds, received inf");
  expect_error([] { Thresholds::from_file({}); },
               "[thresholds] expected thresholds.sources and thresholds.levels with metadata "
               "thresholds.features, received an incomplete file");
  expect_error(
      [] {
        three_bits().bits_of(Tensor::zeros({2, 3}, DType::uint8));
      },
      "[thresholds] expected uint8 or float32 [samples, 2], received uint8 [2, 3]");
  const Tensor one = Tensor::ones({1}, DType::float32);
  expect_error(
      [&] {
        threshold_bits(Tensor::zeros({2, 3}, DType::float32), one, std::array<std::int32_t, 2>{},
                       one);
      },
      "[threshold_bits] expected float32 or float64 features [features, samples] with thresholds "
      "and widths [2], received float32 [2, 3], [1] and [1]");
}

// Training and evaluation see the same bits, also for a feature equal to its threshold.
TEST(Thresholds, TrainAndEvaluateAlike) {
  const Tensor samples = Tensor::of<float>({0.5F, 10, 0.6F, 10.5F, -3, 20}, {3, 2});
  const Thresholds thresholds = three_bits();
  const Tensor x = Tensor::of<float>({0.5F, 0.6F, -3, 10, 10.5F, 20}, {2, 3});
  const Tensor trained = threshold_bits(x, thresholds.values(), thresholds.sources(),
                                        Tensor::full({3}, 0.3, DType::float32));
  const BitMatrix used = thresholds.bits_of(samples);
  for (std::int64_t i = 0; i < trained.size(); ++i) {
    EXPECT_EQ(trained.at(i), used.at(i / 3, i % 3) ? 1 : 0);
  }
}

TEST(Thresholds, PassTheGradientOfASigmoid) {
  constexpr double width = 0.7;
  const std::vector<std::int32_t> sources = {0, 1, 1, 2};
  const Tensor x = parameter(random_tensor({3, 5}, DType::float64, 1));
  const Tensor thresholds = parameter(random_tensor({4}, DType::float64, 2));
  const Tensor upstream = random_tensor({4, 5}, DType::float64, 3);
  std::vector<Tensor> rows;
  for (const std::int32_t source : sources) rows.push_back(slice(x, 0, source, source + 1));
  const Tensor soft =
      sigmoid(scale(subtract(concatenate(rows), reshape(thresholds, {4, 1})), 1 / width));
  const auto plain = grad(soft, {x, thresholds}, {.upstream = upstream});
  const auto own =
      grad(threshold_bits(x, thresholds, sources, Tensor::full({4}, width, DType::float64)),
           {x, thresholds}, {.upstream = upstream});
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::int64_t e = 0; e < plain[i].size(); ++e) {
      EXPECT_NEAR(own[i].at(e), plain[i].at(e), 1e-12);
    }
  }
}

}  // namespace
}  // namespace boolgrad::logic
