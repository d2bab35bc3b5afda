#include "boolgrad/geometry/impact.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "boolgrad/core/fail.h"
#include "boolgrad/geometry/arrangement.h"
#include "boolgrad/geometry/saved_gradient.h"

namespace boolgrad::geometry {
namespace {

constexpr const char* name = "time_of_impact";
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double least_speed = 1e-10;

enum class Tangency : bool { external, internal };

struct Impact {
  double time = never;
  Tangency tangency = Tangency::external;
};

/// The path of the second disk relative to the first.
class Path {
 public:
  Path(const Disk& still, const Disk& moving, const Direction& direction)
      : still_(still), moving_(moving), direction_(direction) {
    const double speed = std::hypot(direction.x, direction.y);
    const double dx = moving.x - still.x;
    const double dy = moving.y - still.y;
    closest_ = -(dx * (direction.x / speed) + dy * (direction.y / speed)) / speed;
    // After this time the disks are disjoint.
    beyond_ = std::max(closest_, 0.0) + 2 * (std::hypot(dx, dy) + still.r + moving.r) / speed;
  }

  Arrangement at(double time) const {
    return arrange(still_,
                   {moving_.x + time * direction_.x, moving_.y + time * direction_.y, moving_.r});
  }

  /// The first tangency.
  Impact impact() const {
    const Arrangement start = at(0);
    if (start.outer_gap == 0) return {0, Tangency::external};
    if (start.inner_gap == 0) return {0, Tangency::internal};
    const double closest = std::max(closest_, 0.0);
    if (start.outer_gap > 0) return root(Tangency::external, 0, closest);
    if (start.inner_gap < 0) return root(Tangency::internal, closest, beyond_);
    const Impact deep = root(Tangency::internal, 0, closest);
    return deep.time < never ? deep : root(Tangency::external, closest, beyond_);
  }

 private:
  double gap(Tangency tangency, double time) const {
    const Arrangement there = at(time);
    return tangency == Tangency::external ? there.outer_gap : there.inner_gap;
  }

  /// The root of the gap between two times, or infinity if its sign does not change.
  Impact root(Tangency tangency, double low, double high) const {
    const double at_low = gap(tangency, low);
    const double at_high = gap(tangency, high);
    if (at_low == 0) return {low, tangency};
    if (at_high == 0) return {high, tangency};
    if ((at_low > 0) == (at_high > 0)) return {};
    return {closed_bracket(tangency, low, high, at_low, at_high), tangency};
  }

  /// The Illinois method, with bisection where it converges slowly.
  double closed_bracket(Tangency tangency, double low, double high, double at_low,
                        double at_high) const {
    for (int step = 0;; ++step) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return high;
      double next = (low * at_high - high * at_low) / (at_high - at_low);
      const bool halve = step % 3 == 2 || !(next > low && next < high);
      if (halve) next = middle;
      const double value = gap(tangency, next);
      if (value == 0) return next;
      if ((value > 0) == (at_low > 0)) {
        low = next;
        at_low = value;
        at_high /= 2;
      } else {
        high = next;
        at_high = value;
        at_low /= 2;
      }
    }
  }

  Disk still_;
  Disk moving_;
  Direction direction_;
  double closest_;
  double beyond_;
};

double impact_of(std::span<const double> disks, std::span<double> gradient,
                 const Direction& direction) {
  const Disk still = {disks[0], disks[1], disks[2]};
  const Disk moving = {disks[3], disks[4], disks[5]};
  const Path path(still, moving, direction);
  const Impact impact = path.impact();
  std::ranges::fill(gradient, 0);
  if (impact.time == never) return never;
  const Arrangement there = path.at(impact.time);
  if (there.d == 0) return impact.time;

  // F = d - (r1 + r2) or d - |r1 - r2|.
  const double normal_x = there.dx / there.d;
  const double normal_y = there.dy / there.d;
  const double floor = least_speed * std::hypot(direction.x, direction.y);
  double closing = normal_x * direction.x + normal_y * direction.y;
  if (std::abs(closing) < floor) closing = std::copysign(floor, closing);
  const bool internal = impact.tangency == Tangency::internal;
  gradient[0] = normal_x / closing;
  gradient[1] = normal_y / closing;
  gradient[2] = (internal && still.r < moving.r ? -1 : 1) / closing;
  gradient[3] = -gradient[0];
  gradient[4] = -gradient[1];
  gradient[5] = (internal && still.r >= moving.r ? -1 : 1) / closing;
  return impact.time;
}

}  // namespace

Tensor time_of_impact(const Tensor& disks, const Direction& direction) {
  check_disk_shape(name, disks, 2);
  const double speed = std::hypot(direction.x, direction.y);
  if (!(speed > 0 && std::isfinite(speed))) {
    fail(name, "expected a finite direction other than 0, received ({}, {})", direction.x,
         direction.y);
  }
  return apply_with_saved_gradient(
      name, disks, [&direction](std::span<const double> pair, std::span<double> gradient) {
        return impact_of(pair, gradient, direction);
      });
}

}  // namespace boolgrad::geometry
