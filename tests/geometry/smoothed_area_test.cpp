#include "boolgrad/geometry/smoothed_area.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/geometry/union_area.h"
#include "tests/geometry/disks.h"
#include "tests/support/messages.h"

namespace boolgrad::geometry {
namespace {

using std::numbers::pi;
using testing_support::area_and_gradient;
using testing_support::AreaAndGradient;
using testing_support::gradient_error;
using testing_support::pair_of;
using testing_support::tensor_of;

AreaAndGradient at(const std::vector<Disk>& disks, const SmoothedOptions& options) {
  return area_and_gradient([&](const Tensor& leaf) { return smoothed_union_area(leaf, options); },
                           tensor_of(disks));
}

// The sigmoid adds pi^3 / (3 beta^2) to the area of a disk and nothing to its gradient, up to
// exponentially small terms.
TEST(SmoothedArea, OfOneDisk) {
  const AreaAndGradient disk = at({{0.3, -0.2, 1}}, {.temperature = 0.1, .sharpness = 40});
  EXPECT_NEAR(disk.area, pi + pi * pi * pi / 3 / 1600, 1e-6);
  EXPECT_NEAR(disk.gradient[2], 2 * pi, 1e-6);
  EXPECT_NEAR(disk.gradient[0], 0, 1e-6);
  EXPECT_EQ(smoothed_union_area(Tensor::zeros({0, 3}, DType::float64)).item(), 0);
}

TEST(SmoothedArea, ConvergesToTheExactArea) {
  const std::vector<Disk> disks = {{0, 0, 1}, {0.9, 0.2, 0.7}, {3, 0, 0.5}};
  const AreaAndGradient exact = area_and_gradient(disk_union_area, tensor_of(disks));
  double previous = 1;
  for (const double sharpness : {10.0, 30.0, 100.0}) {
    const AreaAndGradient smoothed =
        at(disks, {.temperature = 0.5 / sharpness, .sharpness = sharpness});
    const double error = gradient_error(smoothed, exact);
    EXPECT_LT(error, previous / 2) << sharpness;
    previous = error;
  }
  EXPECT_LT(previous, 5e-3);
}

TEST(SmoothedArea, DoesNotDependOnTheCellSize) {
  const std::vector<Disk> disks = {{0, 0, 1}, {1.49, 0, 0.5}};
  const SmoothedOptions coarse{.temperature = 0.1, .sharpness = 100};
  SmoothedOptions fine = coarse;
  fine.cell = coarse.cell / 2;
  const AreaAndGradient a = at(disks, coarse);
  const AreaAndGradient b = at(disks, fine);
  EXPECT_NEAR(a.area, b.area, 1e-6 * b.area);
  EXPECT_LE(gradient_error(a, b), 1e-6);
}

// The grid moves with the disks in finite differences. A fine grid makes that negligible if the
// indicator is flat at the centres, where distances have a kink.
TEST(SmoothedArea, Gradcheck) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    std::vector<Disk> disks = testing_support::random_disks(seed, 4);
    for (Disk& disk : disks) disk.r += 0.8;
    const GradcheckResult result = gradcheck(
        [](std::span<const Tensor> inputs) {
          return smoothed_union_area(inputs[0],
                                     {.temperature = 0.05, .sharpness = 20, .cell = 0.7});
        },
        std::vector{tensor_of(disks)}, {.step = 1e-4, .tolerance = 1e-4});
    EXPECT_TRUE(result.pass) << result.describe();
  }
}

// If temperature times sharpness exceeds 1, distant disks repel each other.
TEST(SmoothedArea, TemperatureTimesSharpnessDeterminesTheInteraction) {
  for (const double gap : {0.02, 0.2, 0.6, 1.0}) {
    const std::vector<Disk> apart = {{0, 0, 1}, {1.8 + gap, 0, 0.8}};
    EXPECT_GT(at(apart, {.temperature = 0.1, .sharpness = 10}).gradient[3], 1e-4) << gap;
    EXPECT_GT(at(apart, {.temperature = 0.05, .sharpness = 10}).gradient[3], 1e-4) << gap;
    const double above = at(apart, {.temperature = 0.3, .sharpness = 10}).gradient[3];
    EXPECT_EQ(above > 0, gap < 0.25) << gap;
  }
}

TEST(SmoothedArea, IsDeterministicForAnyNumberOfThreads) {
  const std::vector<Disk> disks = testing_support::random_disks(7, 6);
  const int threads = thread_count();
  set_thread_count(1);
  const AreaAndGradient one = at(disks, {});
  set_thread_count(3);
  const AreaAndGradient three = at(disks, {});
  set_thread_count(threads);
  EXPECT_EQ(one.area, three.area);
  EXPECT_EQ(one.gradient, three.gradient);
}

TEST(SmoothedArea, RejectsInvalidArguments) {
  const Tensor disks = pair_of({0, 0, 1}, {1, 0, 1});
  expect_error([&] { smoothed_union_area(disks, {.temperature = 0}); },
               "[smoothed_union_area] expected a positive temperature, received 0");
  expect_error([&] { smoothed_union_area(disks, {.sharpness = -1}); },
               "[smoothed_union_area] expected a positive sharpness, received -1");
  expect_error([&] { smoothed_union_area(disks, {.cell = std::nan("")}); },
               "[smoothed_union_area] expected a positive cell, received nan");
  expect_error(
      [&] {
        smoothed_union_area(pair_of({0, 0, 1e8}, {1, 0, 1}));
      },
      "[smoothed_union_area] expected a grid of at most 1e9 cells, received 2e+10 by "
      "2e+10");
  expect_error([&] { smoothed_union_area(Tensor::ones({3}, DType::float64)); },
               "[smoothed_union_area] expected disks [..., n, 3] of x, y and r, received [3]");
  expect_error(
      [&] {
        smoothed_union_area(pair_of({0, 0, -1}, {1, 0, 1}));
      },
      "[smoothed_union_area] expected radii of 0 or between 1e-70 and 1e70, received "
      "-1 at disk 0");
}

}  // namespace
}  // namespace boolgrad::geometry
