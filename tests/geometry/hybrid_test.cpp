#include "boolgrad/geometry/hybrid.h"

#include <gtest/gtest.h>

#include "boolgrad/geometry/union_area.h"
#include "tests/geometry/disks.h"
#include "tests/support/messages.h"

namespace boolgrad::geometry {
namespace {

using testing_support::pair_of;
using testing_support::tensor_of;

const Tensor& only_the_second_centre() {
  static const Tensor free = pair_of({0, 0, 0}, {1, 1, 0});
  return free;
}

FitResult fit_from_apart(AreaMethod method) {
  const double target = disk_union_area(pair_of({0, 0, 1}, {1.4, 0, 0.8})).item();
  return fit_union_area(pair_of({0, 0, 1}, {2.25, 0, 0.8}), only_the_second_centre(), target,
                        {.method = method});
}

TEST(FitUnionArea, TheExactGradientCannotCross) {
  const FitResult exact = fit_from_apart(AreaMethod::exact);
  EXPECT_TRUE(exact.stuck);
  EXPECT_FALSE(exact.converged);
  EXPECT_EQ(exact.history.size(), 1U);
}

TEST(FitUnionArea, TheSmoothedGradientCrossesButIsBiased) {
  const FitResult smoothed = fit_from_apart(AreaMethod::smoothed);
  EXPECT_TRUE(smoothed.converged);
  EXPECT_GT(smoothed.error, 1e-3);
  EXPECT_LT(smoothed.error, 0.05);
}

TEST(FitUnionArea, TheHybridCrossesAndFinishesExactly) {
  const FitResult hybrid = fit_from_apart(AreaMethod::hybrid);
  EXPECT_TRUE(hybrid.converged);
  EXPECT_LE(hybrid.error, 1e-12);
  EXPECT_TRUE(hybrid.history.front().smoothed);
  EXPECT_FALSE(hybrid.history.back().smoothed);
  EXPECT_NEAR(hybrid.disks.at(3), 1.4, 1e-9);
  // Fixed parameters are unchanged.
  EXPECT_EQ(hybrid.disks.at(2), 1);
  EXPECT_EQ(hybrid.disks.at(5), 0.8);
}

TEST(FitUnionArea, ExactWithinAStratum) {
  const Tensor all = Tensor::ones({3, 3}, DType::float64);
  const FitResult fit = fit_union_area(tensor_of({{0, 0, 1}, {1, 0, 1}, {0, 1, 0.5}}), all, 9.0,
                                       {.method = AreaMethod::exact});
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(disk_union_area(fit.disks).item(), 9, 1e-11);
}

TEST(FitUnionArea, RadiiStopAtZero) {
  const Tensor radius = Tensor::of(std::vector<double>{0, 0, 1}, {1, 3});
  const FitResult fit = fit_union_area(tensor_of({{0, 0, 0.2}}), radius, 1e-12,
                                       {.method = AreaMethod::exact, .max_steps = 100});
  EXPECT_GE(fit.disks.at(2), 0);
}

TEST(FitUnionArea, StopsAfterMaxSteps) {
  const Tensor free = pair_of({0, 0, 0}, {1, 1, 0});
  // No position of the second disk gives this area.
  const FitResult fit = fit_union_area(pair_of({0, 0, 1}, {1.5, 0, 1}), free, 100,
                                       {.method = AreaMethod::smoothed, .max_steps = 3});
  EXPECT_FALSE(fit.converged);
  EXPECT_EQ(fit.history.size(), 4U);
}

TEST(FitUnionArea, RejectsInvalidArguments) {
  const Tensor disks = pair_of({0, 0, 1}, {1, 0, 1});
  expect_error(
      [&] {
        fit_union_area(Tensor::ones({1, 2, 3}, DType::float64), disks, 1);
      },
      "[fit_union_area] expected one set of disks [n, 3], received [1, 2, 3]");
  expect_error([&] { fit_union_area(disks, Tensor::ones({3}, DType::float64), 1); },
               "[fit_union_area] expected a mask of shape [2, 3] for the free parameters, "
               "received [3]");
  expect_error([&] { fit_union_area(disks, disks, -1); },
               "[fit_union_area] expected a target area above 0, received -1");
  expect_error([&] { fit_union_area(disks, disks, 1, {.max_step_length = 0}); },
               "[fit_union_area] expected a positive max_step_length, received 0");
}

}  // namespace
}  // namespace boolgrad::geometry
