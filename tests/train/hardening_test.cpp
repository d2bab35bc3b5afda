#include "boolgrad/train/learners/hardening.h"

#include <gtest/gtest.h>

#include <cmath>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/reduction.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

Hardening at_progress(HardeningKind kind, double progress) {
  Hardening hardening({.kind = kind});
  TensorFile file;
  file.metadata["hardening.progress"] = std::to_string(progress);
  hardening.load(file);
  return hardening;
}

TEST(Hardening, GoesOnWhileTheLossIsLow) {
  Hardening hardening({.kind = HardeningKind::blend, .threshold = 0.1, .steps = 10});
  EXPECT_EQ(hardening.share(), 0);
  for (int i = 0; i < 4; ++i) hardening.observe(0.05);
  EXPECT_NEAR(hardening.share(), 0.4, 1e-12);
  EXPECT_NEAR(hardening.rate_factor(), std::pow(0.2, 0.4), 1e-12);
  // The mean needs a moment to see that the loss has risen; then progress is lost half as fast.
  hardening.observe(0.2);
  EXPECT_NEAR(hardening.share(), 0.5, 1e-12) << "the mean is 0.065";
  for (int i = 0; i < 20; ++i) hardening.observe(0.2);
  EXPECT_EQ(hardening.share(), 0);
  for (int i = 0; i < 60; ++i) hardening.observe(0);
  EXPECT_EQ(hardening.share(), 1);
}

TEST(Hardening, ComesBackAsItWas) {
  Hardening before({.kind = HardeningKind::gates, .threshold = 0.1, .steps = 7});
  for (const double loss : {0.05, 0.3, 0.01, 0.02}) before.observe(loss);
  TensorFile file;
  before.save(file);
  Hardening after({.kind = HardeningKind::gates, .threshold = 0.1, .steps = 7});
  after.load(file);
  for (const double loss : {0.05, 0.3, 0.01, 0.02}) {
    EXPECT_EQ(before.share(), after.share());
    before.observe(loss);
    after.observe(loss);
  }
}

TEST(Hardening, BlendsValuesAndPassesGradients) {
  const Tensor soft = parameter(Tensor::of<double>({0.2, 0.6, 0.9, 0.5}, {1, 4}));
  const Tensor hard = Tensor::of<std::uint8_t>({0, 1, 1, 0}, {1, 4});
  const Hardening hardening = at_progress(HardeningKind::blend, 0.75);
  const Tensor table = hardening.applied({soft}, {hard}, 1, 1)[0];
  const std::vector<double> expected{0.05, 0.9, 0.975, 0.125};
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(table.at(i), expected[static_cast<std::size_t>(i)], 1e-12);
  }
  const Tensor gradient = grad(sum(table), {soft})[0];
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(gradient.at(i), 1);
}

TEST(Hardening, DrawsWholeGates) {
  constexpr std::int64_t gates = 2000;
  const Tensor soft = Tensor::full({gates, 4}, 0.25, DType::float32);
  const Tensor hard = Tensor::zeros({gates, 4}, DType::uint8);
  const Hardening hardening = at_progress(HardeningKind::gates, 0.3);
  const Tensor table = hardening.applied({soft}, {hard}, 5, 2)[0];
  std::int64_t hardened = 0;
  for (std::int64_t gate = 0; gate < gates; ++gate) {
    const bool is_hard = table.at(4 * gate) == 0;
    hardened += is_hard ? 1 : 0;
    for (std::int64_t i = 0; i < 4; ++i) ASSERT_EQ(table.at(4 * gate + i), is_hard ? 0 : 0.25);
  }
  EXPECT_NEAR(static_cast<double>(hardened) / gates, 0.3, 0.04);
  EXPECT_TRUE(same_bits(table, hardening.applied({soft}, {hard}, 5, 2)[0]));
  EXPECT_FALSE(same_bits(table, hardening.applied({soft}, {hard}, 5, 3)[0]));
}

TEST(Hardening, RoundsStatesOfAllStepsButTheLast) {
  const RolloutSize size{2, 20, 20, 5};
  const Tensor masks = at_progress(HardeningKind::states, 0.4).rounding(size, 1, 1);
  ASSERT_EQ(masks.shape(), (Shape{5, 2, 20, 20}));
  double rounded = 0;
  for (std::int64_t i = 0; i < 4 * 800; ++i) rounded += masks.at(i);
  EXPECT_NEAR(rounded / 3200, 0.4, 0.04);
  for (std::int64_t i = 4 * 800; i < 5 * 800; ++i) ASSERT_EQ(masks.at(i), 0);
  EXPECT_FALSE(at_progress(HardeningKind::blend, 0.4).rounding(size, 1, 1).defined());
  EXPECT_FALSE(at_progress(HardeningKind::states, 0).rounding(size, 1, 1).defined());
}

TEST(Hardening, StraightThroughIsHardFromTheStart) {
  const Tensor soft = parameter(Tensor::of<double>({0.2, 0.6, 0.9, 0.5}, {1, 4}));
  const Tensor hard = Tensor::of<std::uint8_t>({0, 1, 1, 0}, {1, 4});
  const Hardening hardening({.kind = HardeningKind::straight_through});
  const Tensor table = hardening.applied({soft}, {hard}, 1, 0)[0];
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(table.at(i), hard.at(i), 1e-15);
  const Tensor gradient = grad(sum(table), {soft})[0];
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(gradient.at(i), 1);
}

TEST(Hardening, CoolsDown) {
  const Tensor logits = parameter(Tensor::of<double>({1, -2, 0.5, 3}, {1, 4}));
  const Hardening hardening = at_progress(HardeningKind::temperature, 0.5);
  const Tensor colder = hardening.logits({logits}, Parametrisation::sigmoid, 1, 1)[0];
  const double factor = std::sqrt(10);  // the temperature is 0.1 to the power of one half
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(colder.at(i), factor * logits.at(i), 1e-12);
  EXPECT_NEAR(grad(sum(colder), {logits})[0].at(0), factor, 1e-12);
  EXPECT_TRUE(same_bits(hardening.applied({colder}, {}, 1, 1)[0], colder)) << "tables stay soft";
}

TEST(Hardening, DrawsNoiseThatMakesSoftmaxADraw) {
  constexpr std::int64_t gates = 4000;
  // The likeliest of noisy logits is gate i with the probability that the softmax gives it.
  Tensor logits = Tensor::zeros({gates, 16}, DType::float64);
  for (std::int64_t g = 0; g < gates; ++g) {
    logits.mutable_values<double>()[static_cast<std::size_t>(16 * g)] = std::log(15);
  }
  const Hardening hardening = at_progress(HardeningKind::noise, 1);
  const Tensor noisy = hardening.logits({logits}, Parametrisation::softmax16, 3, 7)[0];
  std::int64_t first = 0;
  for (std::int64_t g = 0; g < gates; ++g) {
    bool is_first = true;
    for (std::int64_t i = 1; i < 16; ++i) {
      is_first = is_first && noisy.at(16 * g) > noisy.at(16 * g + i);
    }
    first += is_first ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(first) / gates, 0.5, 0.03);
  EXPECT_TRUE(same_bits(noisy, hardening.logits({logits}, Parametrisation::softmax16, 3, 7)[0]));
  EXPECT_FALSE(same_bits(noisy, hardening.logits({logits}, Parametrisation::softmax16, 3, 8)[0]));
  // And a sigmoid's sign is positive with the probability that the sigmoid gives it.
  const Tensor one = Tensor::full({gates, 4}, std::log(3), DType::float64);
  const Tensor signs = hardening.logits({one}, Parametrisation::sigmoid, 3, 7)[0];
  std::int64_t positive = 0;
  for (std::int64_t i = 0; i < signs.size(); ++i) positive += signs.at(i) > 0 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(positive) / static_cast<double>(signs.size()), 0.75, 0.02);
  // Walsh coefficients get what gives their entries that noise.
  const Tensor coefficients = walsh_coefficients(one);
  const Tensor entries =
      walsh_logits(hardening.logits({coefficients}, Parametrisation::walsh, 3, 7)[0]);
  for (std::int64_t i = 0; i < signs.size(); ++i) EXPECT_NEAR(entries.at(i), signs.at(i), 1e-12);
}

TEST(Hardening, FreezesTheSurestGates) {
  const Tensor soft = parameter(
      Tensor::of<double>({0.2, 0.6, 0.9, 0.5, 0.01, 0.98, 0.99, 0.0, 0.1, 0.9, 0.2, 0.8}, {3, 4}));
  const Tensor hard = Tensor::of<std::uint8_t>({0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1}, {3, 4});
  const Tensor table = at_progress(HardeningKind::freeze, 0.34).applied({soft}, {hard}, 1, 1)[0];
  const Tensor gradient = grad(sum(table), {soft})[0];
  for (std::int64_t i = 0; i < 12; ++i) {
    const bool frozen = i / 4 == 1;
    EXPECT_EQ(table.at(i), frozen ? hard.at(i) : soft.at(i)) << i;
    EXPECT_EQ(gradient.at(i), frozen ? 0 : 1) << i;
  }
}

TEST(Hardening, IsOffWhereNobodyAskedForIt) {
  Hardening hardening({.kind = HardeningKind::none});
  for (int i = 0; i < 1000; ++i) hardening.observe(0);
  EXPECT_EQ(hardening.share(), 0);
  EXPECT_EQ(hardening.rate_factor(), 1);
}

}  // namespace
}  // namespace boolgrad
