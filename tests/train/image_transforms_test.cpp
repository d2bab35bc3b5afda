#include "boolgrad/train/learners/image_transforms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

namespace boolgrad::train {
namespace {

using Shift = std::pair<int, int>;

std::vector<ImageTransform> transforms_of(const AugmentationOptions& options, std::int64_t count,
                                          std::uint64_t seed = 1, std::int64_t step = 0) {
  return random_transforms(options, {.count = count, .height = 7, .width = 9}, seed, step);
}

std::vector<Shift> shifts_of(std::int64_t count, std::int64_t max, std::uint64_t seed,
                             std::int64_t step) {
  std::vector<Shift> result;
  for (const ImageTransform& t : transforms_of({.max_shift = max}, count, seed, step)) {
    EXPECT_TRUE(t.is_shift());
    result.emplace_back(t.right, t.down);
  }
  return result;
}

TEST(RandomShifts, CoverTheWholeRange) {
  const std::vector<Shift> shifts = shifts_of(2000, 2, 1, 0);
  const std::set<Shift> kinds(shifts.begin(), shifts.end());
  EXPECT_EQ(kinds.size(), 25U);
  for (const auto& [right, down] : kinds) {
    EXPECT_LE(std::abs(right), 2);
    EXPECT_LE(std::abs(down), 2);
  }
}

TEST(RandomShifts, DependOnSeedStepAndIndexOnly) {
  const std::vector<Shift> shifts = shifts_of(50, 1, 3, 7);
  EXPECT_EQ(shifts_of(50, 1, 3, 7), shifts);
  const std::vector<Shift> fewer = shifts_of(20, 1, 3, 7);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), shifts.begin()));
  EXPECT_NE(shifts_of(50, 1, 3, 8), shifts);
  EXPECT_NE(shifts_of(50, 1, 4, 7), shifts);
}

/// Pinned, so that runs with shifts can be repeated with later versions.
TEST(RandomShifts, KeepTheirValues) {
  const std::vector<Shift> expected = {{2, -2}, {0, -2}, {1, -2}, {-1, 3}, {-3, -1}, {-2, 2}};
  EXPECT_EQ(shifts_of(6, 3, 5, 11), expected);
}

struct Spread {
  double low = 1e9;
  double high = -1e9;
  double sum = 0;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
};

TEST(RandomTransforms, RotateBothWays) {
  Spread degrees;
  for (const ImageTransform& t : transforms_of({.max_rotation = 30}, 4000)) {
    degrees.add(std::atan2(t.x_of_v, t.x_of_u) * 180 / std::numbers::pi);
    EXPECT_NEAR(std::hypot(t.x_of_u, t.x_of_v), fixed_one, 2);
  }
  EXPECT_NEAR(degrees.low, -30, 0.1);
  EXPECT_NEAR(degrees.high, 30, 0.1);
  EXPECT_NEAR(degrees.sum / 4000, 0, 1);
}

TEST(RandomTransforms, EnlargeAndReduce) {
  Spread logarithms;
  for (const ImageTransform& t : transforms_of({.max_scale = 0.25}, 4000)) {
    EXPECT_EQ(t.x_of_v, 0);
    EXPECT_EQ(t.x_of_u, t.y_of_v);
    logarithms.add(std::log(t.x_of_u / static_cast<double>(fixed_one)));
  }
  EXPECT_NEAR(logarithms.low, -std::log(1.25), 1e-3);
  EXPECT_NEAR(logarithms.high, std::log(1.25), 1e-3);
  EXPECT_NEAR(logarithms.sum / 4000, 0, 0.01);
}

TEST(RandomTransforms, MirrorHalfOfTheImages) {
  const auto transforms = transforms_of({.flip = true}, 4000);
  const auto mirrored = std::ranges::count_if(
      transforms, [](const ImageTransform& t) { return t.x_of_u == -fixed_one; });
  const auto unchanged = std::ranges::count_if(transforms, &ImageTransform::is_shift);
  EXPECT_EQ(mirrored + unchanged, 4000);
  EXPECT_NEAR(static_cast<double>(mirrored), 2000, 150);
}

/// The middle of the square is any pixel.
TEST(RandomTransforms, CutOutSquaresEverywhere) {
  std::set<Shift> corners;
  for (const ImageTransform& t : transforms_of({.cutout = 3}, 4000)) {
    EXPECT_EQ(t.cut_side, 3);
    corners.emplace(t.cut_left, t.cut_top);
  }
  EXPECT_EQ(corners.size(), 63U);
  EXPECT_EQ(*corners.begin(), Shift(-1, -1));
  EXPECT_EQ(*corners.rbegin(), Shift(7, 5));
}

/// Every kind has its own random numbers.
TEST(RandomTransforms, AreIndependent) {
  const AugmentationOptions all{
      .max_shift = 2, .max_rotation = 10, .max_scale = 0.1, .flip = true, .cutout = 2};
  const auto transforms = transforms_of(all, 50, 3, 7);
  const std::vector<Shift> shifts = shifts_of(50, 2, 3, 7);
  const auto cut = transforms_of({.cutout = 2}, 50, 3, 7);
  const auto again = transforms_of(all, 20, 3, 7);
  const auto later = transforms_of(all, 50, 3, 8);
  int different = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(Shift(transforms[i].right, transforms[i].down), shifts[i]);
    EXPECT_EQ(transforms[i].cut_left, cut[i].cut_left);
    if (i < 20) {
      EXPECT_EQ(transforms[i].x_of_v, again[i].x_of_v);
    }
    if (transforms[i].x_of_v != later[i].x_of_v) ++different;
  }
  EXPECT_GT(different, 45);
}

}  // namespace
}  // namespace boolgrad::train
