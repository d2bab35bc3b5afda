#include "boolgrad/train/hardening.h"

#include <gtest/gtest.h>

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

TEST(Hardening, IsOffWhereNobodyAskedForIt) {
  Hardening hardening({.kind = HardeningKind::none});
  for (int i = 0; i < 1000; ++i) hardening.observe(0);
  EXPECT_EQ(hardening.share(), 0);
  EXPECT_EQ(hardening.rate_factor(), 1);
}

}  // namespace
}  // namespace boolgrad
