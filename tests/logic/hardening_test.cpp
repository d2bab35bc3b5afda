#include "boolgrad/logic/hardening.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/reduction.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

TEST(HardenedTables, BlendValuesAndPassGradients) {
  const Tensor soft = parameter(Tensor::of<double>({0.2, 0.6, 0.9, 0.5}, {1, 4}));
  const Tensor hard = Tensor::of<std::uint8_t>({0, 1, 1, 0}, {1, 4});
  const HardeningStep step{.kind = HardeningKind::blend, .share = 0.75};
  const Tensor table = hardened_tables(step, {soft}, {hard}, {})[0];
  const std::vector<double> expected{0.05, 0.9, 0.975, 0.125};
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(table.at(i), expected[static_cast<std::size_t>(i)], 1e-12);
  }
  const Tensor gradient = grad(sum(table), {soft})[0];
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(gradient.at(i), 1);
}

TEST(HardenedTables, AreSampledPerGate) {
  constexpr std::int64_t gates = 2000;
  const Tensor soft = Tensor::full({gates, 4}, 0.25, DType::float32);
  const Tensor hard = Tensor::zeros({gates, 4}, DType::uint8);
  const auto sampled = [&](std::uint32_t step) {
    return hardened_tables({.kind = HardeningKind::gates, .share = 0.3, .seed = 5, .step = step},
                           {soft}, {hard}, {})[0];
  };
  const Tensor table = sampled(2);
  std::int64_t hardened = 0;
  for (std::int64_t gate = 0; gate < gates; ++gate) {
    const bool is_hard = table.at(4 * gate) == 0;
    hardened += is_hard ? 1 : 0;
    for (std::int64_t i = 0; i < 4; ++i) ASSERT_EQ(table.at(4 * gate + i), is_hard ? 0 : 0.25);
  }
  EXPECT_NEAR(static_cast<double>(hardened) / gates, 0.3, 0.04);
  EXPECT_TRUE(same_bits(table, sampled(2)));
  EXPECT_FALSE(same_bits(table, sampled(3)));
}

TEST(HardenedTables, AreStraightThrough) {
  const Tensor soft = parameter(Tensor::of<double>({0.2, 0.6, 0.9, 0.5}, {1, 4}));
  const Tensor hard = Tensor::of<std::uint8_t>({0, 1, 1, 0}, {1, 4});
  const HardeningStep step{.kind = HardeningKind::straight_through, .share = 1};
  const Tensor table = hardened_tables(step, {soft}, {hard}, {})[0];
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(table.at(i), hard.at(i), 1e-15);
  const Tensor gradient = grad(sum(table), {soft})[0];
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(gradient.at(i), 1);
}

TEST(HardenedLogits, AreScaledByTheTemperature) {
  const Tensor logits = parameter(Tensor::of<double>({1, -2, 0.5, 3}, {1, 4}));
  constexpr double factor = 3;
  const HardeningStep step{.kind = HardeningKind::temperature, .share = 0.5, .logit_scale = factor};
  const Tensor colder = hardened_logits(step, {logits}, Parametrisation::sigmoid)[0];
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(colder.at(i), factor * logits.at(i), 1e-12);
  EXPECT_NEAR(grad(sum(colder), {logits})[0].at(0), factor, 1e-12);
  EXPECT_FALSE(hardens_tables(step));
  EXPECT_TRUE(same_bits(hardened_tables(step, {colder}, {}, {})[0], colder)) << "tables stay soft";
}

TEST(HardenedLogits, AddNoiseThatSamplesFromTheSoftmax) {
  constexpr std::int64_t gates = 4000;
  // Gate i has the largest noisy logit with its softmax probability.
  Tensor logits = Tensor::zeros({gates, 16}, DType::float64);
  for (std::int64_t g = 0; g < gates; ++g) {
    logits.mutable_values<double>()[static_cast<std::size_t>(16 * g)] = std::log(15);
  }
  const auto with_noise = [](const Tensor& own, Parametrisation parametrisation,
                             std::uint32_t step) {
    return hardened_logits(
        {.kind = HardeningKind::noise, .share = 1, .noise = 1, .seed = 3, .step = step}, {own},
        parametrisation)[0];
  };
  const Tensor noisy = with_noise(logits, Parametrisation::softmax16, 7);
  std::int64_t first = 0;
  for (std::int64_t g = 0; g < gates; ++g) {
    bool is_first = true;
    for (std::int64_t i = 1; i < 16; ++i) {
      is_first = is_first && noisy.at(16 * g) > noisy.at(16 * g + i);
    }
    first += is_first ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(first) / gates, 0.5, 0.03);
  EXPECT_TRUE(same_bits(noisy, with_noise(logits, Parametrisation::softmax16, 7)));
  EXPECT_FALSE(same_bits(noisy, with_noise(logits, Parametrisation::softmax16, 8)));
  // A noisy logit is positive with its sigmoid probability.
  const Tensor one = Tensor::full({gates, 4}, std::log(3), DType::float64);
  const Tensor signs = with_noise(one, Parametrisation::sigmoid, 7);
  std::int64_t positive = 0;
  for (std::int64_t i = 0; i < signs.size(); ++i) positive += signs.at(i) > 0 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(positive) / static_cast<double>(signs.size()), 0.75, 0.02);
  // The noise of Walsh coefficients is that noise on the entries.
  const Tensor coefficients = walsh_coefficients(one);
  const Tensor entries = walsh_logits(with_noise(coefficients, Parametrisation::walsh, 7));
  for (std::int64_t i = 0; i < signs.size(); ++i) EXPECT_NEAR(entries.at(i), signs.at(i), 1e-12);
}

TEST(HardenedTables, FreezeTheMostCertainGates) {
  const Tensor soft = parameter(
      Tensor::of<double>({0.2, 0.6, 0.9, 0.5, 0.01, 0.98, 0.99, 0.0, 0.1, 0.9, 0.2, 0.8}, {3, 4}));
  const Tensor hard = Tensor::of<std::uint8_t>({0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1}, {3, 4});
  const HardeningStep step{.kind = HardeningKind::freeze, .share = 0.34};
  const std::vector<Tensor> frozen = most_certain_gates({soft}, {hard}, step.share);
  ASSERT_EQ(frozen[0].shape(), (Shape{3}));
  EXPECT_EQ(frozen[0].at(0) + 2 * frozen[0].at(1) + 4 * frozen[0].at(2), 2) << "the second";
  const Tensor table = hardened_tables(step, {soft}, {hard}, frozen)[0];
  const Tensor gradient = grad(sum(table), {soft})[0];
  for (std::int64_t i = 0; i < 12; ++i) {
    const bool is_fixed = i / 4 == 1;
    EXPECT_EQ(table.at(i), is_fixed ? hard.at(i) : soft.at(i)) << i;
    EXPECT_EQ(gradient.at(i), is_fixed ? 0 : 1) << i;
  }
}

TEST(HardenedTables, StaySoftIfNothingHardens) {
  const Tensor soft = Tensor::of<double>({0.2, 0.6, 0.9, 0.5}, {1, 4});
  for (const HardeningKind kind : {HardeningKind::none, HardeningKind::states}) {
    EXPECT_FALSE(hardens_tables({.kind = kind, .share = 1}));
    EXPECT_TRUE(same_bits(hardened_tables({.kind = kind, .share = 1}, {soft}, {}, {})[0], soft));
  }
  EXPECT_FALSE(hardens_tables({.kind = HardeningKind::blend, .share = 0}));
}

}  // namespace
}  // namespace boolgrad::logic
