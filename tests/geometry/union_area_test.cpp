#include "boolgrad/geometry/union_area.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/geometry/disk_tree.h"
#include "tests/geometry/disks.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::geometry {
namespace {

using std::numbers::pi;
using testing_support::area_and_gradient;
using testing_support::AreaAndGradient;
using testing_support::gradient_error;
using testing_support::random_disks;
using testing_support::tensor_of;
using testing_support::with_copies;

AreaAndGradient at(const std::vector<Disk>& disks) {
  return area_and_gradient(disk_union_area, tensor_of(disks));
}

TEST(UnionArea, OfFewDisks) {
  EXPECT_EQ(disk_union_area(Tensor::zeros({0, 3}, DType::float64)).item(), 0);
  EXPECT_DOUBLE_EQ(at({{1, 2, 3}}).area, 9 * pi);
  EXPECT_EQ(at({{1, 2, 3}}).gradient, (std::vector<double>{0, 0, 6 * pi}));
  EXPECT_DOUBLE_EQ(at({{0, 0, 1}, {5, 0, 2}, {0, 7, 3}}).area, 14 * pi);
  EXPECT_EQ(at({{0, 0, 0}, {1, 1, 0}}).area, 0);
}

// Four unit disks at the corners of a square of side 2 are tangent and enclose a hole.
TEST(UnionArea, TouchingDisks) {
  const AreaAndGradient ring = at({{0, 0, 1}, {2, 0, 1}, {0, 2, 1}, {2, 2, 1}});
  EXPECT_DOUBLE_EQ(ring.area, 4 * pi);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(ring.gradient[i], i % 3 == 2 ? 2 * pi : 0, 1e-14) << i;
  }
  EXPECT_DOUBLE_EQ(at({{0, 0, 2}, {1, 0, 1}, {-1, 0, 1}}).area, 4 * pi);
}

// A disk that fills the hole of a ring has no exposed arc, although no disk contains it.
TEST(UnionArea, ADiskCoveredByManyHasNoGradient) {
  std::vector<Disk> disks = {{0, 0, 0.5}};
  for (int i = 0; i < 8; ++i) disks.push_back({std::cos(i * pi / 4), std::sin(i * pi / 4), 0.9});
  const AreaAndGradient covered = at(disks);
  EXPECT_EQ(std::vector(covered.gradient.begin(), covered.gradient.begin() + 3),
            std::vector<double>(3, 0));
  disks[0].r = 0.4;
  EXPECT_DOUBLE_EQ(covered.area, at(disks).area);
}

TEST(UnionArea, OfEqualDisksOnlyTheFirstHasAGradient) {
  const AreaAndGradient copies = at({{1, 1, 2}, {1, 1, 2}, {1, 1, 2}});
  EXPECT_DOUBLE_EQ(copies.area, 4 * pi);
  EXPECT_EQ(copies.gradient, (std::vector<double>{0, 0, 4 * pi, 0, 0, 0, 0, 0, 0}));
}

TEST(UnionArea, CopiesAndNestedDisksChangeNothing) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const std::vector<Disk> disks = random_disks(seed, 20);
    const std::vector<Disk> more = with_copies(disks);
    const AreaAndGradient alone = at(disks);
    const AreaAndGradient together = at(more);
    RC_ASSERT(std::abs(alone.area - together.area) <= 1e-13 * alone.area);
    for (std::size_t i = 0; i < together.gradient.size(); ++i) {
      const double expected = i < alone.gradient.size() ? alone.gradient[i] : 0;
      RC_ASSERT(std::abs(together.gradient[i] - expected) <= 1e-13 * alone.largest());
    }
  }));
}

TEST(UnionArea, GradcheckOnRandomUnions) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const std::vector<Disk> disks = random_disks(seed, 8);
    RC_PRE(testing_support::away_from_tangencies(disks, 1e-3));
    const GradcheckResult result =
        gradcheck([](std::span<const Tensor> inputs) { return disk_union_area(inputs[0]); },
                  std::vector{tensor_of(disks)}, {.step = 1e-6, .tolerance = 1e-6});
    RC_ASSERT(result.pass);
  }));
}

// A disk and its copy have no separate derivatives, only a common one, which the first disk
// receives.
TEST(UnionArea, GradcheckWithNestedAndEqualDisks) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const std::vector<Disk> originals = random_disks(seed, 6);
    RC_PRE(testing_support::away_from_tangencies(originals, 1e-3));
    const AreaAndGradient here = at(with_copies(originals));
    constexpr double step = 1e-6;
    const auto shifted_area = [&](std::size_t i, double Disk::*parameter, double shift) {
      std::vector<Disk> moved = originals;
      moved[i].*parameter += shift;
      return at(with_copies(moved)).area;
    };
    for (std::size_t i = 0; i < originals.size(); ++i) {
      std::size_t index = 3 * i;
      for (const auto parameter : {&Disk::x, &Disk::y, &Disk::r}) {
        const double slope =
            (shifted_area(i, parameter, step) - shifted_area(i, parameter, -step)) / (2 * step);
        RC_ASSERT(std::abs(slope - here.gradient[index++]) <= 1e-6 * std::max(1.0, here.largest()));
      }
    }
  }));
}

struct Transformation {
  double turn = 0;
  double scale = 1;
  double shift_x = 0;
  double shift_y = 0;

  Disk operator()(const Disk& disk) const {
    const double c = std::cos(turn);
    const double s = std::sin(turn);
    return {scale * (c * disk.x - s * disk.y) + shift_x,
            scale * (s * disk.x + c * disk.y) + shift_y, scale * disk.r};
  }
};

void expect_invariance(const Transformation& transformation, double tolerance) {
  EXPECT_TRUE(rc::check([&](std::uint64_t seed) {
    const std::vector<Disk> disks = random_disks(seed, 30);
    std::vector<Disk> moved;
    for (const Disk& disk : disks) moved.push_back(transformation(disk));
    const double scale = transformation.scale;
    const double area = at(disks).area;
    RC_ASSERT(std::abs(at(moved).area - scale * scale * area) <= tolerance * scale * scale * area);
  }));
}

TEST(UnionArea, TranslationInvariant) {
  expect_invariance({.shift_x = 1000, .shift_y = -200}, 1e-11);
}
TEST(UnionArea, RotationInvariant) { expect_invariance({.turn = 1.1}, 1e-13); }
TEST(UnionArea, ScalesWithTheSquare) {
  expect_invariance({.scale = 1e-8}, 1e-13);
  expect_invariance({.scale = 1e8}, 1e-13);
}

TEST(UnionArea, PermutationInvariant) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    std::vector<Disk> disks = random_disks(seed, 40);
    const AreaAndGradient forwards = at(disks);
    std::ranges::reverse(disks);
    const AreaAndGradient backwards = at(disks);
    RC_ASSERT(std::abs(forwards.area - backwards.area) <= 1e-14 * forwards.area);
    for (std::size_t i = 0; i < disks.size(); ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        RC_ASSERT(std::abs(forwards.gradient[3 * i + j] -
                           backwards.gradient[3 * (disks.size() - 1 - i) + j]) <=
                  1e-14 * forwards.largest());
      }
    }
  }));
}

// Two small, distant components: with one common origin, cancellation would destroy both areas.
TEST(UnionArea, DistantComponentsKeepTheirPrecision) {
  const double lens = at({{0, 0, 1}, {1, 0, 1}}).area;
  const double both =
      at({{0, 0, 1}, {1, 0, 1}, {0x1p40, 0, 1}, {0x1p40 + 1, 0, 1}, {5, 5, 0x1p-30}}).area;
  EXPECT_DOUBLE_EQ(both, 2 * lens + pi * 0x1p-60);
}

TEST(UnionArea, DisksOfVeryDifferentSizes) {
  std::vector<Disk> disks = {{0, 0, 1e4}};
  double outside = 0;
  for (int i = 0; i < 200; ++i) {
    const double r = std::pow(10.0, -8 + i % 10);
    const double x = (i % 2 == 0 ? 0.5 : 1.5) * 1e4;
    disks.push_back({x, 50.0 * i, r});
    if (std::hypot(x, 50.0 * i) > 1e4 + r) outside += pi * r * r;
  }
  EXPECT_NEAR(at(disks).area, pi * 1e8 + outside, 1e-6);
}

TEST(UnionArea, IsDeterministicForAnyNumberOfThreads) {
  std::vector<Disk> disks;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const auto uniform = [&](std::uint32_t stream) {
      return random_uniform({.seed = 3, .stream = stream, .index = i});
    };
    disks.push_back({50 * uniform(1), 50 * uniform(2), 0.2 + uniform(3)});
  }
  const int threads = thread_count();
  set_thread_count(1);
  const AreaAndGradient one = at(disks);
  for (const int some : {2, 5}) {
    set_thread_count(some);
    const AreaAndGradient more = at(disks);
    EXPECT_EQ(more.area, one.area);
    EXPECT_EQ(more.gradient, one.gradient);
  }
  set_thread_count(threads);
}

TEST(UnionArea, ABatchOfUnions) {
  const Tensor disks = random_tensor({4, 5, 7, 3}, DType::float64, 11, {.low = 0, .high = 1});
  const Tensor leaf = parameter(disks);
  const Tensor areas = disk_union_area(leaf);
  EXPECT_EQ(areas.shape(), (Shape{4, 5}));
  const Tensor upstream = random_tensor({4, 5}, DType::float64, 12);
  const Tensor gradient = grad(areas, {leaf}, {.upstream = upstream})[0];
  const AreaAndGradient one =
      area_and_gradient(disk_union_area, disks.viewed_from(13 * 21, {7, 3}).clone());
  EXPECT_EQ(one.area, areas.at(13));
  for (std::int64_t i = 0; i < 21; ++i) {
    EXPECT_EQ(gradient.at(13 * 21 + i),
              upstream.at(13) * one.gradient[static_cast<std::size_t>(i)]);
  }
}

TEST(DiskTree, FindsAllNeighbours) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const std::vector<Disk> disks = random_disks(seed, 100);
    const DiskTree tree(disks);
    for (std::size_t i = 0; i < tree.size(); ++i) {
      std::vector<std::size_t> found;
      tree.visit_neighbours(i, [&](std::size_t j) {
        found.push_back(tree.origin(j));
        return true;
      });
      for (std::size_t j = 0; j < disks.size(); ++j) {
        if (j == tree.origin(i)) continue;
        const bool near = arrange(tree.disk(i), disks[j]).stratum() != Stratum::disjoint;
        if (near) RC_ASSERT(std::ranges::count(found, j) == 1);
      }
    }
  }));
}

TEST(UnionArea, RejectsInvalidArguments) {
  expect_error(
      [] {
        disk_union_area(Tensor::ones({4, 2}, DType::float64));
      },
      "[disk_union_area] expected disks [..., n, 3] of x, y and r, received [4, 2]");
  expect_error(
      [] {
        at({{0, 0, 1}, {0, 0, 1}, {0, 0, -2}});
      },
      "[disk_union_area] expected radii of 0 or between 1e-70 and 1e70, received -2 "
      "at disk 2");
  expect_error(
      [] {
        at({{0, 0, std::nan("")}});
      },
      "[disk_union_area] expected radii of 0 or between 1e-70 and 1e70, received nan "
      "at disk 0");
}

}  // namespace
}  // namespace boolgrad::geometry
