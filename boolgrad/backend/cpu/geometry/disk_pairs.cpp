#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/geometry/disk_pairs.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include <algorithm>
#include <iterator>
#include <numbers>

#include "boolgrad/backend/cpu/geometry/disk_pairs.h"
#include "boolgrad/backend/cpu/tensor/arctangent_coefficients.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

#ifndef BOOLGRAD_DISK_PAIRS_TYPES_
#define BOOLGRAD_DISK_PAIRS_TYPES_
namespace boolgrad::cpu {

using PairAreasKernel = bool (*)(const double* pairs, std::size_t count, double* areas,
                                 std::int32_t* strata);
using PairGradientsKernel = void (*)(const double* pairs, const std::int32_t* strata,
                                     const double* upstream, std::size_t count, double* gradients);

}  // namespace boolgrad::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

constexpr std::size_t max_lanes = HWY_MAX_BYTES / sizeof(double);

HWY_INLINE V Constant(double value) { return hn::Set(D(), value); }

// ---------------------------------------------------------------------------------------------
// One pair per lane

struct Disks {
  V x, y, r;
};
struct Pairs {
  Disks first, second;
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void SplitPairs(V a, V b, V& first, V& second) {
  first = a;
  second = b;
}
HWY_INLINE V InOrder(V lanes) { return lanes; }
HWY_INLINE V OutOfOrder(V ordered) { return ordered; }
#else
// Two consecutive vectors of disks hold pairs in their blocks. Interleaving block by block
// separates first and second disks, and is its own inverse. Lanes 2i then hold the pairs of the
// first vector and lanes 2i + 1 those of the second.
HWY_INLINE void SplitPairs(V a, V b, V& first, V& second) {
  first = hn::InterleaveLower(D(), a, b);
  second = hn::InterleaveUpper(D(), a, b);
}

/// Lanes in the order of the pairs in memory, and back.
HWY_INLINE V InOrder(V lanes) {
  HWY_ALIGN std::int64_t from[max_lanes];
  const std::size_t half = hn::Lanes(D()) / 2;
  for (std::size_t i = 0; i < half; ++i) {
    from[i] = static_cast<std::int64_t>(2 * i);
    from[half + i] = static_cast<std::int64_t>(2 * i + 1);
  }
  return hn::TableLookupLanes(lanes, hn::SetTableIndices(D(), from));
}
HWY_INLINE V OutOfOrder(V ordered) {
  HWY_ALIGN std::int64_t from[max_lanes];
  const std::size_t half = hn::Lanes(D()) / 2;
  for (std::size_t i = 0; i < half; ++i) {
    from[2 * i] = static_cast<std::int64_t>(i);
    from[2 * i + 1] = static_cast<std::int64_t>(half + i);
  }
  return hn::TableLookupLanes(ordered, hn::SetTableIndices(D(), from));
}
#endif

HWY_INLINE Pairs LoadPairs(const double* from) {
  const D d;
  Disks a;
  Disks b;
  hn::LoadInterleaved3(d, from, a.x, a.y, a.r);
  hn::LoadInterleaved3(d, from + 3 * hn::Lanes(d), b.x, b.y, b.r);
  Pairs pairs;
  SplitPairs(a.x, b.x, pairs.first.x, pairs.second.x);
  SplitPairs(a.y, b.y, pairs.first.y, pairs.second.y);
  SplitPairs(a.r, b.r, pairs.first.r, pairs.second.r);
  return pairs;
}

HWY_INLINE void StorePairs(const Pairs& pairs, double* to) {
  const D d;
  Disks a;
  Disks b;
  SplitPairs(pairs.first.x, pairs.second.x, a.x, b.x);
  SplitPairs(pairs.first.y, pairs.second.y, a.y, b.y);
  SplitPairs(pairs.first.r, pairs.second.r, a.r, b.r);
  hn::StoreInterleaved3(a.x, a.y, a.r, d, to);
  hn::StoreInterleaved3(b.x, b.y, b.r, d, to + 3 * hn::Lanes(d));
}

/// The mask of lanes with valid disks. Comparisons are false for NaN.
HWY_INLINE M IsDisk(const Disks& disk) {
  const V most = Constant(largest_disk);
  const M placed = hn::And(hn::Le(hn::Abs(disk.x), most), hn::Le(hn::Abs(disk.y), most));
  const M sized = hn::And(hn::Ge(disk.r, Constant(smallest_radius)), hn::Le(disk.r, most));
  return hn::And(placed, hn::Or(sized, hn::Eq(disk.r, hn::Zero(D()))));
}

// ---------------------------------------------------------------------------------------------
// Relative position of the circles

/// A square and its rounding error.
HWY_INLINE V Square(V x, V& lost) {
  const V square = hn::Mul(x, x);
#if HWY_NATIVE_FMA
  lost = hn::MulSub(x, x, square);
#else
  // Dekker's product: two halves of 26 bits multiply exactly.
  const V shifted = hn::Mul(x, Constant(134217729.0));
  const V high = hn::Sub(shifted, hn::Sub(shifted, x));
  const V low = hn::Sub(x, high);
  const V cross = hn::Mul(hn::Add(high, high), low);
  lost = hn::Add(hn::Add(hn::Sub(hn::Mul(high, high), square), cross), hn::Mul(low, low));
#endif
  return square;
}

/// a - b and its rounding error.
HWY_INLINE V Difference(V a, V b, V& lost) {
  const V difference = hn::Sub(a, b);
  const V back = hn::Sub(a, difference);
  lost = hn::Add(hn::Sub(a, hn::Add(difference, back)), hn::Sub(back, b));
  return difference;
}

/// a is the larger and b the smaller radius (a is the first disk's if they are equal), d is the
/// distance of the centres. The differences of squares have full relative precision, also near a
/// tangency and for b below the rounding error of a.
struct Arrangement {
  M second_is_larger;
  V a, b;
  V dx, dy, square;  // square is d^2
  V outer;           // (a + b)^2 - d^2, below 0 where the disks are apart
  V inner;           // d^2 - (a - b)^2, below 0 where one is inside the other
};

/// d^2 as two squares in descending order, and the sum of their rounding errors.
struct SquaredDistance {
  V larger, smaller, lost;
};

/// d^2 - reach^2 in double-double precision. `lost` is the rounding error of the reach.
HWY_INLINE V Excess(const SquaredDistance& squared, V reach, V lost) {
  V reach2_lost, rest_lost, sum_lost;
  const V reach2 = Square(reach, reach2_lost);
  const V rest = Difference(squared.larger, reach2, rest_lost);
  const V sum = Difference(rest, hn::Neg(squared.smaller), sum_lost);
  const V low = hn::Sub(squared.lost, hn::MulAdd(hn::Add(reach, reach), lost, reach2_lost));
  return hn::Add(sum, hn::Add(low, hn::Add(rest_lost, sum_lost)));
}

HWY_INLINE Arrangement Arrange(const Pairs& pairs) {
  Arrangement at;
  at.second_is_larger = hn::Gt(pairs.second.r, pairs.first.r);
  at.a = hn::Max(pairs.first.r, pairs.second.r);
  at.b = hn::Min(pairs.first.r, pairs.second.r);
  V dx_lost, dy_lost, dx2_lost, dy2_lost, lost;
  at.dx = Difference(pairs.second.x, pairs.first.x, dx_lost);
  at.dy = Difference(pairs.second.y, pairs.first.y, dy_lost);
  const V dx2 = Square(at.dx, dx2_lost);
  const V dy2 = Square(at.dy, dy2_lost);
  at.square = hn::Add(dx2, dy2);
  const V shift = hn::MulAdd(at.dx, dx_lost, hn::Mul(at.dy, dy_lost));
  const SquaredDistance squared = {hn::Max(dx2, dy2), hn::Min(dx2, dy2),
                                   hn::Add(hn::Add(dx2_lost, dy2_lost), hn::Add(shift, shift))};
  const V sum = Difference(at.a, hn::Neg(at.b), lost);
  at.outer = hn::Neg(Excess(squared, sum, lost));
  const V difference = Difference(at.a, at.b, lost);
  at.inner = Excess(squared, difference, lost);
  return at;
}

/// The mask of lanes with circles that meet, tangencies included. Points and identical disks count
/// as contained or disjoint.
HWY_INLINE M Meets(const Arrangement& at) {
  const V zero = hn::Zero(D());
  const M circles = hn::And(hn::Gt(at.b, zero), hn::Gt(at.square, zero));
  return hn::And(circles, hn::And(hn::Ge(at.outer, zero), hn::Ge(at.inner, zero)));
}

// ---------------------------------------------------------------------------------------------
// Circles that meet

/// Properties of the triangle with sides d, a, b, whose corners are the centres and an intersection
/// of the circles: for each circle half the angle of its arc outside of the other disk, and four
/// times the area of the triangle.
struct Triangle {
  V outside_a, outside_b, four_areas;
};

/// atan(x) for x in [0, 1], with even and odd powers evaluated in parallel.
HWY_INLINE V UnitArctangent(V x) {
  const D d;
  constexpr std::size_t terms = std::size(arctangent_double);
  static_assert(terms % 2 == 0);
  const V s = hn::MulSub(hn::Add(x, x), x, Constant(1));
  const V s2 = hn::Mul(s, s);
  V odd = hn::Set(d, arctangent_double[0]);
  V even = hn::Set(d, arctangent_double[1]);
  for (std::size_t i = 2; i < terms; i += 2) {
    odd = hn::MulAdd(odd, s2, hn::Set(d, arctangent_double[i]));
    even = hn::MulAdd(even, s2, hn::Set(d, arctangent_double[i + 1]));
  }
  return hn::Mul(x, hn::MulAdd(odd, s, even));
}

/// Half-angle formulas: tan^2 (A/2) = (s-b)(s-c) / (s (s-a)), where s is half the perimeter. With
/// all = a + b + d and side = a - b + d the other two factors are outer / all and inner / side.
HWY_INLINE Triangle Solve(M meets, const Arrangement& at) {
  // Lanes of another stratum use the triangle of two unit disks at distance 1.
  const V one = Constant(1);
  const V a = hn::IfThenElse(meets, at.a, one);
  const V b = hn::IfThenElse(meets, at.b, one);
  const V distance = hn::Sqrt(hn::IfThenElse(meets, at.square, one));
  const V outer = hn::IfThenElse(meets, at.outer, Constant(3));
  const V inner = hn::IfThenElse(meets, at.inner, one);

  const V side = hn::Add(distance, hn::Sub(a, b));
  const V all = hn::Add(hn::Add(a, b), distance);
  const V root = hn::Sqrt(hn::Mul(outer, inner));
  // The angle at the larger disk is at most 90 degrees, so the tangent of its half is at most 1.
  // The angle at the smaller disk is measured from the nearer end: again the tangent is at most 1,
  // and no division by 0 occurs.
  const V at_a = UnitArctangent(hn::Div(root, hn::Mul(all, side)));
  const V all_inner = hn::Mul(all, inner);
  const V side_outer = hn::Mul(side, outer);
  const M open = hn::Gt(hn::Mul(all, all_inner), hn::Mul(side, side_outer));
  const V tangent = hn::Div(hn::Mul(root, hn::IfThenElse(open, side, all)),
                            hn::IfThenElse(open, all_inner, side_outer));
  const V at_b = UnitArctangent(tangent);
  const V half_pi = Constant(std::numbers::pi / 2);
  Triangle triangle;
  triangle.outside_a = hn::Mul(Constant(2), hn::Sub(half_pi, at_a));
  triangle.outside_b = hn::Mul(Constant(2), hn::IfThenElse(open, hn::Sub(half_pi, at_b), at_b));
  triangle.four_areas = root;
  return triangle;
}

// ---------------------------------------------------------------------------------------------
// Areas

/// Two sectors and the kite between them where circles meet.
HWY_INLINE V Area(const Arrangement& at, M meets, M disjoint) {
  const V pi = Constant(std::numbers::pi);
  const V a2 = hn::Mul(at.a, at.a);
  const V b2 = hn::Mul(at.b, at.b);
  V area = hn::Mul(pi, hn::IfThenElse(disjoint, hn::Add(a2, b2), a2));
  if (!hn::AllFalse(D(), meets)) {
    const Triangle triangle = Solve(meets, at);
    const V sectors = hn::MulAdd(a2, triangle.outside_a, hn::Mul(b2, triangle.outside_b));
    area = hn::IfThenElse(meets, hn::MulAdd(Constant(0.5), triangle.four_areas, sectors), area);
  }
  return area;
}

/// Processes one vector of pairs. Returns whether all disks are valid.
HWY_INLINE bool AreasOfVector(const double* pairs, double* areas, std::int32_t* strata) {
  const D d;
  const Pairs loaded = LoadPairs(pairs);
  const Arrangement at = Arrange(loaded);
  const M meets = Meets(at);
  const M disjoint = hn::AndNot(meets, hn::Lt(at.outer, hn::Zero(d)));
  hn::StoreU(InOrder(Area(at, meets, disjoint)), d, areas);
  const V label =
      hn::IfThenElse(meets, Constant(1), hn::IfThenElse(disjoint, hn::Zero(d), Constant(2)));
  const hn::Rebind<std::int32_t, D> labels;
  hn::StoreU(hn::DemoteTo(labels, InOrder(label)), labels, strata);
  return hn::AllTrue(d, hn::And(IsDisk(loaded.first), IsDisk(loaded.second)));
}

bool PairAreas(const double* pairs, std::size_t count, double* areas, std::int32_t* strata) {
  const std::size_t lanes = hn::Lanes(D());
  bool disks = true;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    disks &= AreasOfVector(pairs + 6 * i, areas + i, strata + i);
  }
  if (i < count) {
    HWY_ALIGN double some_pairs[6 * max_lanes] = {};
    HWY_ALIGN double some_areas[max_lanes];
    HWY_ALIGN std::int32_t some_strata[max_lanes];
    std::copy(pairs + 6 * i, pairs + 6 * count, some_pairs);
    disks &= AreasOfVector(some_pairs, some_areas, some_strata);
    std::copy(some_areas, some_areas + (count - i), areas + i);
    std::copy(some_strata, some_strata + (count - i), strata + i);
  }
  return disks;
}

// ---------------------------------------------------------------------------------------------
// Gradients

/// The gradient of the area: for a radius the length of its exposed arc; for the centres the length
/// of the chord, in the direction of the line that joins them.
HWY_INLINE void GradientsOfVector(const double* pairs, const std::int32_t* strata,
                                  const double* upstream, double* gradients) {
  const D d;
  const hn::Rebind<std::int32_t, D> labels;
  const V label = OutOfOrder(hn::PromoteTo(d, hn::LoadU(labels, strata)));
  const V scale = OutOfOrder(hn::LoadU(d, upstream));
  const M meets = hn::Eq(label, Constant(1));
  const Arrangement at = Arrange(LoadPairs(pairs));
  const V two_pi = Constant(2 * std::numbers::pi);
  V of_a = hn::Mul(two_pi, at.a);
  V of_b = hn::IfThenElseZero(hn::Eq(label, hn::Zero(d)), hn::Mul(two_pi, at.b));
  V along = hn::Zero(d);  // chord / d
  if (!hn::AllFalse(d, meets)) {
    const Triangle triangle = Solve(meets, at);
    const V two = Constant(2);
    of_a = hn::IfThenElse(meets, hn::Mul(hn::Mul(two, at.a), triangle.outside_a), of_a);
    of_b = hn::IfThenElse(meets, hn::Mul(hn::Mul(two, at.b), triangle.outside_b), of_b);
    const V square = hn::IfThenElse(meets, at.square, Constant(1));
    along = hn::IfThenElseZero(meets, hn::Div(triangle.four_areas, square));
  }
  const V scaled_chord = hn::Mul(scale, along);
  Pairs result;
  result.second.x = hn::Mul(scaled_chord, at.dx);
  result.second.y = hn::Mul(scaled_chord, at.dy);
  result.first.x = hn::Neg(result.second.x);
  result.first.y = hn::Neg(result.second.y);
  result.first.r = hn::Mul(scale, hn::IfThenElse(at.second_is_larger, of_b, of_a));
  result.second.r = hn::Mul(scale, hn::IfThenElse(at.second_is_larger, of_a, of_b));
  StorePairs(result, gradients);
}

void PairGradients(const double* pairs, const std::int32_t* strata, const double* upstream,
                   std::size_t count, double* gradients) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    GradientsOfVector(pairs + 6 * i, strata + i, upstream + i, gradients + 6 * i);
  }
  if (i < count) {
    HWY_ALIGN double some_pairs[6 * max_lanes] = {};
    HWY_ALIGN double some_upstream[max_lanes] = {};
    HWY_ALIGN std::int32_t some_strata[max_lanes] = {};
    HWY_ALIGN double some_gradients[6 * max_lanes];
    std::copy(pairs + 6 * i, pairs + 6 * count, some_pairs);
    std::copy(upstream + i, upstream + count, some_upstream);
    std::copy(strata + i, strata + count, some_strata);
    GradientsOfVector(some_pairs, some_strata, some_upstream, some_gradients);
    std::copy(some_gradients, some_gradients + 6 * (count - i), gradients + 6 * i);
  }
}

PairAreasKernel FindPairAreas() { return &PairAreas; }
PairGradientsKernel FindPairGradients() { return &PairGradients; }

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <atomic>

#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

HWY_EXPORT(FindPairAreas);
HWY_EXPORT(FindPairGradients);

// Pairs per task: enough to amortise its overhead.
constexpr std::size_t task_pairs = 4096;

}  // namespace

bool disk_pair_areas(const double* pairs, std::size_t count, double* areas, std::int32_t* strata) {
  const PairAreasKernel kernel = HWY_DYNAMIC_DISPATCH(FindPairAreas)();
  std::atomic<bool> disks = true;
  parallel_for(task_count(count, task_pairs), [&](std::size_t task) {
    const std::size_t first = task * task_pairs;
    const std::size_t some = std::min(task_pairs, count - first);
    if (!kernel(pairs + 6 * first, some, areas + first, strata + first)) disks = false;
  });
  return disks;
}

void disk_pair_gradients(const double* pairs, const std::int32_t* strata, const double* upstream,
                         std::size_t count, double* gradients) {
  const PairGradientsKernel kernel = HWY_DYNAMIC_DISPATCH(FindPairGradients)();
  parallel_for(task_count(count, task_pairs), [&](std::size_t task) {
    const std::size_t first = task * task_pairs;
    kernel(pairs + 6 * first, strata + first, upstream + first, std::min(task_pairs, count - first),
           gradients + 6 * first);
  });
}

}  // namespace boolgrad::cpu

#endif
