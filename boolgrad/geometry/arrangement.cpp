#include "boolgrad/geometry/arrangement.h"

#include <algorithm>
#include <cmath>

namespace boolgrad::geometry {
namespace {

/// A rounded result and its rounding error: value + error is exact.
struct Exact {
  double value;
  double error;
};

Exact square(double x) {
  const double value = x * x;
  return {value, std::fma(x, x, -value)};
}

Exact difference(double a, double b) {
  const double value = a - b;
  const double back = a - value;
  return {value, (a - (value + back)) + (back - b)};
}

/// d^2 as the sum of two squares in descending order and a rounding error.
struct SquaredDistance {
  double larger;
  double smaller;
  double error;
};

/// d - reach as (d^2 - reach^2) / (d + reach), with the numerator in double-double precision.
double gap(const SquaredDistance& squared, double d, const Exact& reach) {
  if (d + reach.value == 0) return 0;
  const Exact reach2 = square(reach.value);
  const Exact rest = difference(squared.larger, reach2.value);
  const Exact sum = difference(rest.value, -squared.smaller);
  const double low =
      squared.error - (reach2.error + 2 * reach.value * reach.error) + (rest.error + sum.error);
  return (sum.value + low) / (d + reach.value);
}

}  // namespace

Stratum Arrangement::stratum() const {
  if (b > 0 && d > 0 && outer_gap <= 0 && inner_gap >= 0) return Stratum::intersecting;
  return outer_gap > 0 ? Stratum::disjoint : Stratum::contained;
}

Arrangement arrange(const Disk& from, const Disk& to) {
  Arrangement at{.a = std::max(from.r, to.r), .b = std::min(from.r, to.r)};
  const Exact dx = difference(to.x, from.x);
  const Exact dy = difference(to.y, from.y);
  const Exact dx2 = square(dx.value);
  const Exact dy2 = square(dy.value);
  at.dx = dx.value;
  at.dy = dy.value;
  at.d = std::sqrt(dx2.value + dy2.value);
  const SquaredDistance squared = {
      std::max(dx2.value, dy2.value), std::min(dx2.value, dy2.value),
      dx2.error + dy2.error + 2 * (dx.value * dx.error + dy.value * dy.error)};
  at.outer_gap = gap(squared, at.d, difference(at.a, -at.b));
  at.inner_gap = gap(squared, at.d, difference(at.a, at.b));
  return at;
}

// tan^2 (A/2) = (s-b)(s-c) / (s (s-a)) in the triangle with sides d, a, b. Every factor is a gap or
// a sum of terms of one sign, so nothing cancels.
double half_covered_of_larger(const Arrangement& at) {
  return 2 * std::atan2(std::sqrt(-at.outer_gap * at.inner_gap),
                        std::sqrt((at.a + at.b + at.d) * (at.d + (at.a - at.b))));
}

double half_covered_of_smaller(const Arrangement& at) {
  return 2 * std::atan2(std::sqrt(-at.outer_gap * (at.d + (at.a - at.b))),
                        std::sqrt((at.a + at.b + at.d) * at.inner_gap));
}

}  // namespace boolgrad::geometry
