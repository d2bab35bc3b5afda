#include "boolgrad/geometry/impact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "boolgrad/autograd/gradcheck.h"
#include "tests/geometry/disks.h"
#include "tests/support/messages.h"

namespace boolgrad::geometry {
namespace {

using testing_support::area_and_gradient;
using testing_support::AreaAndGradient;
using testing_support::pair_of;
using testing_support::tensor_of;

constexpr double never = std::numeric_limits<double>::infinity();

AreaAndGradient impact(const Disk& still, const Disk& moving, const Direction& direction) {
  return area_and_gradient([&](const Tensor& leaf) { return time_of_impact(leaf, direction); },
                           pair_of(still, moving));
}

double time(const Disk& still, const Disk& moving, const Direction& direction) {
  return impact(still, moving, direction).area;
}

TEST(TimeOfImpact, FirstTangencyOfEveryStratum) {
  // From outside, head on.
  EXPECT_DOUBLE_EQ(time({0, 0, 1}, {5, 0, 2}, {-1, 0}), 2);
  EXPECT_DOUBLE_EQ(time({0, 0, 1}, {5, 0, 2}, {-4, 0}), 0.5);
  // From inside, on the way out.
  EXPECT_DOUBLE_EQ(time({0, 0, 3}, {1, 0, 1}, {1, 0}), 1);
  EXPECT_DOUBLE_EQ(time({0, 0, 3}, {1, 0, 1}, {-1, 0}), 3);
  EXPECT_DOUBLE_EQ(time({1, 0, 1}, {0, 0, 3}, {1, 0}), 3);
  // Intersecting: deep enough to be contained, separating, and passing without being contained.
  EXPECT_DOUBLE_EQ(time({0, 0, 3}, {3, 0, 1}, {-1, 0}), 1);
  EXPECT_DOUBLE_EQ(time({0, 0, 3}, {3, 0, 1}, {1, 0}), 1);
  EXPECT_DOUBLE_EQ(time({0, 0, 3}, {-2, 3, 1}, {1, 0}), 2 + std::sqrt(7));
  // Off the line of centres.
  EXPECT_DOUBLE_EQ(time({0, 0, 1}, {10, 3, 4}, {-1, 0}), 6);
}

TEST(TimeOfImpact, StartsAtATangency) {
  EXPECT_EQ(time({0, 0, 2}, {3, 4, 3}, {-1, 0}), 0);
  EXPECT_EQ(time({0, 0, 7}, {3, 4, 2}, {1, 0}), 0);
}

TEST(TimeOfImpact, IsInfiniteIfThePathMisses) {
  for (const Direction& direction : {Direction{1, 0}, Direction{0, 1}}) {
    const AreaAndGradient miss = impact({0, 0, 1}, {5, 0, 2}, direction);
    EXPECT_EQ(miss.area, never);
    EXPECT_EQ(miss.gradient, std::vector<double>(6, 0));
  }
}

TEST(TimeOfImpact, DerivativeHeadOn) {
  EXPECT_EQ(impact({0, 0, 1}, {5, 0, 2}, {-1, 0}).gradient,
            (std::vector<double>{-1, 0, -1, 1, 0, -1}));
  EXPECT_EQ(impact({0, 0, 3}, {1, 0, 1}, {1, 0}).gradient,
            (std::vector<double>{1, 0, 1, -1, 0, -1}));
  EXPECT_EQ(impact({1, 0, 1}, {0, 0, 3}, {-1, 0}).gradient,
            (std::vector<double>{-1, 0, -1, 1, 0, 1}));
}

TEST(TimeOfImpact, Gradcheck) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const auto uniform = [&](std::uint32_t stream) {
      return random_uniform({.seed = seed, .stream = stream});
    };
    const std::vector<Disk> pair = {{0, 0, 0.2 + uniform(1)},
                                    {4 * uniform(2) - 2, 4 * uniform(3) - 2, 0.2 + uniform(4)}};
    const Direction direction = {0.5 + uniform(5), uniform(6) - 0.5};
    RC_PRE(testing_support::away_from_tangencies(pair, 1e-2));
    RC_PRE(std::abs(pair[0].r - pair[1].r) > 1e-2);
    // Stay away from grazing paths.
    const double speed = std::hypot(direction.x, direction.y);
    const double miss = std::abs(pair[1].x * direction.y - pair[1].y * direction.x) / speed;
    RC_PRE(std::abs(miss - (pair[0].r + pair[1].r)) > 0.05);
    RC_PRE(std::abs(miss - std::abs(pair[0].r - pair[1].r)) > 0.05);
    RC_PRE(time_of_impact(tensor_of(pair), direction).item() < never);
    const GradcheckResult result = gradcheck(
        [&](std::span<const Tensor> inputs) { return time_of_impact(inputs[0], direction); },
        std::vector{tensor_of(pair)}, {.step = 1e-6, .tolerance = 1e-5});
    RC_ASSERT(result.pass);
  }));
}

// On a path along the tangent the closing speed is 0 and bounded below by 1e-10.
TEST(TimeOfImpact, AGrazingPathHasAFiniteDerivative) {
  const AreaAndGradient grazing = impact({0, 0, 1}, {-4, 3, 2}, {1, 0});
  EXPECT_DOUBLE_EQ(grazing.area, 4);
  for (const double value : grazing.gradient) EXPECT_TRUE(std::isfinite(value));
  EXPECT_LE(grazing.largest(), 1e10);
}

TEST(TimeOfImpact, CoincidingCentresHaveZeroDerivative) {
  const AreaAndGradient equal = impact({1, 1, 2}, {1, 1, 2}, {1, 0});
  EXPECT_EQ(equal.area, 0);
  EXPECT_EQ(equal.gradient, std::vector<double>(6, 0));
}

TEST(TimeOfImpact, RejectsInvalidArguments) {
  const Tensor disks = pair_of({0, 0, 1}, {3, 0, 1});
  expect_error(
      [&] {
        time_of_impact(disks, {0, 0});
      },
      "[time_of_impact] expected a finite direction other than 0, received (0, 0)");
  expect_error(
      [&] {
        time_of_impact(disks, {std::nan(""), 0});
      },
      "[time_of_impact] expected a finite direction other than 0, received (nan, 0)");
  expect_error(
      [&] {
        time_of_impact(Tensor::ones({3, 3}, DType::float64), {1, 0});
      },
      "[time_of_impact] expected disks [..., 2, 3] of x, y and r, received [3, 3]");
}

}  // namespace
}  // namespace boolgrad::geometry
