#include "boolgrad/train/learners/hardening.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace boolgrad::train {
namespace {

Hardening at_progress(HardeningKind kind, double progress) {
  Hardening hardening({.kind = kind});
  TensorFile file;
  file.metadata["hardening.progress"] = std::to_string(progress);
  hardening.load(file);
  return hardening;
}

TEST(Hardening, ProgressesWhileTheLossIsLow) {
  Hardening hardening({.kind = HardeningKind::blend, .threshold = 0.1, .steps = 10});
  EXPECT_EQ(hardening.share(), 0);
  for (int i = 0; i < 4; ++i) hardening.observe(0.05);
  EXPECT_NEAR(hardening.share(), 0.4, 1e-12);
  EXPECT_NEAR(hardening.rate_factor(), std::pow(0.2, 0.4), 1e-12);
  // The running mean lags behind; then progress decreases half as fast.
  hardening.observe(0.2);
  EXPECT_NEAR(hardening.share(), 0.5, 1e-12) << "the mean is 0.065";
  for (int i = 0; i < 20; ++i) hardening.observe(0.2);
  EXPECT_EQ(hardening.share(), 0);
  for (int i = 0; i < 60; ++i) hardening.observe(0);
  EXPECT_EQ(hardening.share(), 1);
}

TEST(Hardening, IsRestoredFromACheckpoint) {
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

TEST(Hardening, DescribesEachStep) {
  const HardeningStep blend = at_progress(HardeningKind::blend, 0.75).step(7, 3);
  EXPECT_EQ(blend.kind, HardeningKind::blend);
  EXPECT_EQ(blend.share, 0.75);
  EXPECT_EQ(blend.seed, 7U);
  EXPECT_EQ(blend.step, 3U);
  const HardeningStep cold = at_progress(HardeningKind::temperature, 0.5).step(1, 1);
  EXPECT_NEAR(cold.logit_scale, std::sqrt(10), 1e-12) << "0.1 to the power of one half, inverted";
  EXPECT_EQ(at_progress(HardeningKind::noise, 0.5).step(1, 1).noise, 0.5);
}

TEST(Hardening, StraightThroughIsHardFromTheStart) {
  EXPECT_EQ(Hardening({.kind = HardeningKind::straight_through}).step(1, 0).share, 1);
}

TEST(Hardening, IsOffByDefault) {
  Hardening hardening({.kind = HardeningKind::none});
  for (int i = 0; i < 1000; ++i) hardening.observe(0);
  EXPECT_EQ(hardening.share(), 0);
  EXPECT_EQ(hardening.rate_factor(), 1);
}

}  // namespace
}  // namespace boolgrad::train
