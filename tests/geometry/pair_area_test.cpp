#include "boolgrad/geometry/pair_area.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/geometry/union_area.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/tensor/safetensors.h"
#include "tests/geometry/disks.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::geometry {
namespace {

using std::numbers::pi;
using testing_support::area_and_gradient;
using testing_support::AreaAndGradient;
using testing_support::gradient_error;
using testing_support::pair_of;
using testing_support::tensor_of;

Stratum stratum_of(const Disk& first, const Disk& second) {
  return static_cast<Stratum>(disk_pair_strata(pair_of(first, second)).values<std::int32_t>()[0]);
}

AreaAndGradient at(const Disk& first, const Disk& second) {
  return area_and_gradient(disk_pair_area, pair_of(first, second));
}

TEST(PairArea, OfEachStratum) {
  EXPECT_DOUBLE_EQ(disk_pair_area(pair_of({0, 0, 1}, {3, 0, 1.5})).item(), pi * 3.25);
  EXPECT_DOUBLE_EQ(disk_pair_area(pair_of({0, 0, 1}, {0.25, 0.25, 0.5})).item(), pi);
  // Two unit circles, each through the centre of the other.
  EXPECT_DOUBLE_EQ(disk_pair_area(pair_of({0, 0, 1}, {1, 0, 1})).item(),
                   4 * pi / 3 + std::sqrt(3) / 2);
}

TEST(PairArea, GradientIsArcsAndChord) {
  const AreaAndGradient lens = at({0, 0, 1}, {1, 0, 1});
  const std::vector<double> expected = {-std::sqrt(3), 0, 4 * pi / 3, std::sqrt(3), 0, 4 * pi / 3};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(lens.gradient[i], expected[i], 1e-15) << i;
  EXPECT_EQ(at({0, 0, 1}, {5, 5, 2}).gradient, (std::vector<double>{0, 0, 2 * pi, 0, 0, 4 * pi}));
  EXPECT_EQ(at({0, 0, 1}, {5, 5, 20}).gradient, (std::vector<double>{0, 0, 0, 0, 0, 40 * pi}));
}

TEST(PairArea, ATangencyCountsAsIntersecting) {
  EXPECT_EQ(stratum_of({0, 0, 2}, {3, 4, 3}), Stratum::intersecting);
  EXPECT_EQ(stratum_of({0, 0, 7}, {3, 4, 2}), Stratum::intersecting);
  EXPECT_EQ(stratum_of({0, 0, 2}, {3, 4, std::nextafter(3, 0)}), Stratum::disjoint);
  EXPECT_EQ(stratum_of({0, 0, 2}, {3, 4, std::nextafter(3, 4)}), Stratum::intersecting);
  EXPECT_EQ(stratum_of({0, 0, 7}, {3, 4, std::nextafter(2, 0)}), Stratum::contained);
  EXPECT_EQ(stratum_of({0, 0, 7}, {3, 4, std::nextafter(2, 4)}), Stratum::intersecting);
}

TEST(PairArea, AtATangencyTheFormulasAgree) {
  const AreaAndGradient outside = at({0, 0, 2}, {3, 4, 3});
  EXPECT_DOUBLE_EQ(outside.area, 13 * pi);
  const std::vector<double> both = {0, 0, 4 * pi, 0, 0, 6 * pi};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(outside.gradient[i], both[i], 1e-14) << i;
  const AreaAndGradient inside = at({0, 0, 7}, {3, 4, 2});
  EXPECT_DOUBLE_EQ(inside.area, 49 * pi);
  const std::vector<double> one = {0, 0, 14 * pi, 0, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(inside.gradient[i], one[i], 1e-14) << i;
}

// At distance e from a tangency the gradient differs from that at the tangency by a multiple of
// sqrt(e) in the intersecting stratum, and not at all on the other side.
TEST(PairArea, GradientIsContinuousAtBothTangencies) {
  for (const double tangency : {1.5, 0.5}) {
    const AreaAndGradient limit = at({0, 0, 1}, {tangency, 0, 0.5});
    const double inwards = tangency == 1.5 ? -1 : 1;
    double previous = 0;
    for (const double wanted : {0x1p-10, 0x1p-20, 0x1p-30, 0x1p-40}) {
      const AreaAndGradient meeting = at({0, 0, 1}, {tangency + inwards * wanted, 0, 0.5});
      const AreaAndGradient beyond = at({0, 0, 1}, {tangency - inwards * wanted, 0, 0.5});
      EXPECT_LE(gradient_error(beyond, limit), 1e-15);
      const double difference = gradient_error(meeting, limit);
      EXPECT_LT(difference, 2 * std::sqrt(wanted));
      if (previous > 0) {
        EXPECT_NEAR(previous / difference, 32, 0.1) << tangency << " " << wanted;
      }
      previous = difference;
    }
  }
}

TEST(PairArea, EqualAndConcentricDisks) {
  EXPECT_EQ(stratum_of({1, 2, 3}, {1, 2, 3}), Stratum::contained);
  const AreaAndGradient equal = at({1, 2, 3}, {1, 2, 3});
  EXPECT_DOUBLE_EQ(equal.area, 9 * pi);
  EXPECT_EQ(equal.gradient, (std::vector<double>{0, 0, 6 * pi, 0, 0, 0}));
  EXPECT_EQ(at({1, 2, 3}, {1, 2, 1}).gradient, (std::vector<double>{0, 0, 6 * pi, 0, 0, 0}));
  EXPECT_EQ(at({1, 2, 1}, {1, 2, 3}).gradient, (std::vector<double>{0, 0, 0, 0, 0, 6 * pi}));
}

TEST(PairArea, ADiskOfRadiusZeroAddsNothing) {
  for (const double x : {0.0, 0.5, 1.0, 2.0}) {
    const AreaAndGradient point = at({0, 0, 1}, {x, 0, 0});
    EXPECT_DOUBLE_EQ(point.area, pi) << x;
    EXPECT_EQ(point.gradient, (std::vector<double>{0, 0, 2 * pi, 0, 0, 0})) << x;
  }
  const AreaAndGradient points = at({0, 0, 0}, {0, 0, 0});
  EXPECT_EQ(points.area, 0);
  EXPECT_EQ(points.gradient, std::vector<double>(6, 0));
}

// The small disk is below the rounding error of the large radius, yet half of it is exposed.
TEST(PairArea, SizesFarApart) {
  const Disk large = {0, 0, 1e8};
  const Disk small = {1e8, 0, 1e-8};
  EXPECT_EQ(stratum_of(large, small), Stratum::intersecting);
  const AreaAndGradient result = at(large, small);
  EXPECT_DOUBLE_EQ(result.area, pi * 1e16);
  EXPECT_NEAR(result.gradient[5], pi * 1e-8, 1e-22);
  EXPECT_NEAR(result.gradient[3], 2e-8, 1e-22);
  EXPECT_EQ(stratum_of(large, {1e8 + 0x1p-25, 0, 1e-8}), Stratum::disjoint);
  EXPECT_EQ(stratum_of(large, {1e8 - 0x1p-25, 0, 1e-8}), Stratum::contained);
  // Next to each other, at the limits of valid values.
  EXPECT_DOUBLE_EQ(at({0, 0, 1e70}, {1e70, 0, 1e70}).area, 1e140 * (4 * pi / 3 + std::sqrt(3) / 2));
  EXPECT_DOUBLE_EQ(at({0, 0, 1e-70}, {1e-70, 0, 1e-70}).area,
                   1e-140 * (4 * pi / 3 + std::sqrt(3) / 2));
}

TEST(PairArea, GradcheckInEveryStratum) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const auto uniform = [&](std::uint32_t stream) {
      return random_uniform({.seed = seed, .stream = stream});
    };
    const std::vector<Disk> pair = {{0, 0, 0.2 + uniform(1)},
                                    {2 * uniform(2) - 1, 2 * uniform(3) - 1, 0.2 + uniform(4)}};
    RC_PRE(testing_support::away_from_tangencies(pair, 1e-3));
    RC_PRE(arrange(pair[0], pair[1]).d > 1e-3);
    const GradcheckResult result =
        gradcheck([](std::span<const Tensor> inputs) { return disk_pair_area(inputs[0]); },
                  std::vector{tensor_of(pair)});
    RC_ASSERT(result.pass);
  }));
}

TEST(PairArea, AgreesWithTheUnionOfTwo) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const Tensor disks = random_tensor({2, 3}, DType::float64, seed, {.low = 0, .high = 1});
    const AreaAndGradient pair = area_and_gradient(disk_pair_area, disks);
    const AreaAndGradient all = area_and_gradient(disk_union_area, disks);
    RC_ASSERT(std::abs(pair.area - all.area) <= 1e-14 * all.area);
    RC_ASSERT(gradient_error(pair, all) <= 1e-14);
  }));
}

// SIMD vectors and tasks process many pairs at once; each result is that of the pair alone.
TEST(PairArea, ABatchEqualsItsPairs) {
  constexpr std::int64_t count = 10007;
  const Tensor disks = random_tensor({count, 2, 3}, DType::float64, 5, {.low = 0, .high = 1});
  const Tensor leaf = parameter(disks);
  const Tensor upstream = random_tensor({count}, DType::float64, 6);
  const Tensor areas = disk_pair_area(leaf);
  const Tensor gradient = grad(areas, {leaf}, {.upstream = upstream, .keep_graph = true})[0];
  for (std::int64_t i = count - 50; i < count; ++i) {
    const Tensor one = parameter(disks.viewed_from(6 * i, {2, 3}).clone());
    const Tensor area = disk_pair_area(one);
    EXPECT_EQ(area.item(), areas.at(i));
    const Tensor slope =
        grad(area, {one}, {.upstream = Tensor::scalar(upstream.at(i), DType::float64)})[0];
    EXPECT_TRUE(same_bits(slope, gradient.viewed_from(6 * i, {2, 3}))) << i;
  }
  const int threads = thread_count();
  for (const int some : {1, 3}) {
    set_thread_count(some);
    EXPECT_TRUE(same_bits(disk_pair_area(disks), areas.detach()));
    EXPECT_TRUE(
        same_bits(grad(areas, {leaf}, {.upstream = upstream, .keep_graph = true})[0], gradient));
  }
  set_thread_count(threads);
}

TEST(PairArea, OtherDtypesAreComputedInFloat64) {
  const Tensor disks = random_tensor({4, 2, 3}, DType::float32, 9, {.low = 0, .high = 1});
  const Tensor areas = disk_pair_area(disks);
  EXPECT_EQ(areas.dtype(), DType::float32);
  EXPECT_TRUE(same_bits(areas, cast(disk_pair_area(cast(disks, DType::float64)), DType::float32)));
  EXPECT_EQ(disk_pair_area(Tensor::zeros({0, 2, 3}, DType::float64)).shape(), Shape{0});
}

TEST(PairArea, RejectsInvalidArguments) {
  expect_error([] { disk_pair_area(Tensor()); },
               "[disk_pair_area] expected a tensor, received an undefined one");
  expect_error(
      [] {
        disk_pair_area(Tensor::ones({2, 3}, DType::int32));
      },
      "[disk_pair_area] expected disks of a floating dtype, received int32");
  expect_error(
      [] {
        disk_pair_area(Tensor::ones({2, 4}, DType::float64));
      },
      "[disk_pair_area] expected disks [..., 2, 3] of x, y and r, received [2, 4]");
  expect_error(
      [] {
        disk_pair_area(Tensor::ones({5, 3, 3}, DType::float64));
      },
      "[disk_pair_area] expected disks [..., 2, 3] of x, y and r, received [5, 3, 3]");
  expect_error([] { disk_pair_area(Tensor::ones({3}, DType::float64)); },
               "[disk_pair_area] expected disks [..., 2, 3] of x, y and r, received [3]");
  expect_error(
      [] {
        disk_pair_area(pair_of({0, 0, 1}, {0, 0, -1}));
      },
      "[disk_pair_area] expected radii of 0 or between 1e-70 and 1e70, received -1 at "
      "disk 1");
  expect_error(
      [] {
        disk_pair_area(pair_of({0, 0, std::nan("")}, {0, 0, 1}));
      },
      "[disk_pair_area] expected radii of 0 or between 1e-70 and 1e70, received nan "
      "at disk 0");
  expect_error(
      [] {
        disk_pair_area(pair_of({0, 0, 1}, {0, std::nan(""), 1}));
      },
      "[disk_pair_area] expected coordinates of at most 1e70, received (0, nan) at disk "
      "1");
  expect_error(
      [] {
        disk_pair_area(pair_of({-1e200, 0, 1}, {0, 0, 1}));
      },
      "[disk_pair_area] expected coordinates of at most 1e70, received (-1e+200, 0) at "
      "disk 0");
  expect_error(
      [] {
        disk_pair_strata(pair_of({0, 0, 1e-200}, {0, 0, 1}));
      },
      "[disk_pair_strata] expected radii of 0 or between 1e-70 and 1e70, received "
      "1e-200 at disk 0");
}

}  // namespace
}  // namespace boolgrad::geometry
