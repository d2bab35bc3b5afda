#include "boolgrad/geometry/union_area.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/geometry/arrangement.h"
#include "boolgrad/geometry/disk_tree.h"
#include "boolgrad/geometry/saved_gradient.h"

namespace boolgrad::geometry {
namespace {

constexpr const char* name = "disk_union_area";
constexpr double turn = 2 * std::numbers::pi;

/// An arc of a circle, 0 <= begin <= end <= 2 pi.
struct Arc {
  double begin;
  double end;
};

// ---------------------------------------------------------------------------------------------
// One circle

/// The arcs of a circle that other disks cover.
class Coverage {
 public:
  void clear() { arcs_.clear(); }

  /// Adds the arc from angle - half to angle + half.
  void add(double angle, double half) {
    double begin = angle - half;
    if (begin < 0) begin += turn;
    const double end = begin + 2 * half;
    arcs_.push_back({begin, std::min(end, turn)});
    if (end > turn) arcs_.push_back({0, std::min(end - turn, turn)});
  }

  bool empty() const { return arcs_.empty(); }

  /// Calls `visit` for every uncovered arc. Sorts the arcs.
  template <class Visit>
  void visit_exposed(const Visit& visit) {
    std::ranges::sort(arcs_, {}, &Arc::begin);
    double covered = 0;
    for (const Arc& arc : arcs_) {
      if (arc.begin > covered) visit(Arc{covered, arc.begin});
      covered = std::max(covered, arc.end);
    }
    if (covered < turn) visit(Arc{covered, turn});
  }

 private:
  std::vector<Arc> arcs_;
};

/// The gradient of the area: r times angle, r times sine and -r times cosine over the exposed arcs.
struct DiskGradient {
  double x = 0;
  double y = 0;
  double r = 0;
};

DiskGradient gradient_of(const Disk& disk, Coverage& coverage) {
  if (coverage.empty()) return {.r = disk.r * turn};
  DiskGradient sum;
  coverage.visit_exposed([&](const Arc& arc) {
    sum.x += std::sin(arc.end) - std::sin(arc.begin);
    sum.y -= std::cos(arc.end) - std::cos(arc.begin);
    sum.r += arc.end - arc.begin;
  });
  return {disk.r * sum.x, disk.r * sum.y, disk.r * sum.r};
}

// ---------------------------------------------------------------------------------------------
// One union

/// Two disks whose circles intersect, as indices in the tree.
struct Link {
  std::size_t one;
  std::size_t other;
};

/// The gradient of disk `i`. Adds the earlier circles that it intersects to `links`.
DiskGradient exposed_part(const DiskTree& tree, std::size_t i, Coverage& coverage,
                          std::vector<Link>& links) {
  const Disk& disk = tree.disk(i);
  if (disk.r == 0) return {};
  coverage.clear();
  bool hidden = false;
  tree.visit_neighbours(i, [&](std::size_t j) {
    const Disk& other = tree.disk(j);
    const Arrangement at = arrange(disk, other);
    switch (at.stratum()) {
      case Stratum::disjoint: break;
      case Stratum::contained:
        hidden = other.r > disk.r || (other.r == disk.r && tree.origin(j) < tree.origin(i));
        break;
      case Stratum::intersecting:
        coverage.add(std::atan2(at.dy, at.dx),
                     disk.r >= other.r ? half_covered_of_larger(at) : half_covered_of_smaller(at));
        if (j < i) links.push_back({i, j});
        break;
    }
    return !hidden;
  });
  return hidden ? DiskGradient{} : gradient_of(disk, coverage);
}

/// For each disk the largest disk of its component. Components are connected by intersecting
/// circles.
std::vector<std::size_t> largest_of_component(const DiskTree& tree,
                                              const std::vector<std::vector<Link>>& links) {
  std::vector<std::size_t> parent(tree.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    for (; parent[i] != i; i = parent[i]) parent[i] = parent[parent[i]];
    return i;
  };
  for (const std::vector<Link>& some : links) {
    for (const Link& link : some) {
      const std::size_t one = root(link.one);
      const std::size_t other = root(link.other);
      if (tree.disk(one).r >= tree.disk(other).r) parent[other] = one;
      else parent[one] = other;
    }
  }
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = root(i);
  return parent;
}

/// Compensated summation (Neumaier).
class CompensatedSum {
 public:
  void add(double value) {
    const double sum = sum_ + value;
    error_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + error_; }

 private:
  double sum_ = 0;
  double error_ = 0;
};

/// Half the inner product of disks and gradient. The gradient of a component sums to zero, so the
/// result does not depend on the origin. The centre of the largest disk as origin avoids
/// cancellation for distant components.
double area_from(const DiskTree& tree, const std::vector<DiskGradient>& gradient,
                 const std::vector<std::size_t>& largest) {
  CompensatedSum twice_area;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const Disk& disk = tree.disk(i);
    const Disk& origin = tree.disk(largest[i]);
    twice_area.add(disk.r * gradient[i].r);
    twice_area.add((disk.x - origin.x) * gradient[i].x);
    twice_area.add((disk.y - origin.y) * gradient[i].y);
  }
  return twice_area.value() / 2;
}

// Disks per task: enough to amortise its start.
constexpr std::size_t task_disks = 128;

/// Returns the area and writes the gradient in the layout of the disks.
double union_area(std::span<const double> values, std::span<double> gradient) {
  std::vector<Disk> disks(values.size() / 3);
  for (std::size_t i = 0; i < disks.size(); ++i) {
    disks[i] = {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
  }
  const DiskTree tree(disks);
  const std::size_t tasks = task_count(disks.size(), task_disks);
  std::vector<std::vector<Link>> links(tasks);
  std::vector<DiskGradient> parts(disks.size());
  parallel_for(tasks, [&](std::size_t task) {
    Coverage coverage;
    const std::size_t end = std::min((task + 1) * task_disks, disks.size());
    for (std::size_t i = task * task_disks; i < end; ++i) {
      parts[i] = exposed_part(tree, i, coverage, links[task]);
    }
  });
  for (std::size_t i = 0; i < disks.size(); ++i) {
    const std::size_t at = 3 * tree.origin(i);
    gradient[at] = parts[i].x;
    gradient[at + 1] = parts[i].y;
    gradient[at + 2] = parts[i].r;
  }
  return area_from(tree, parts, largest_of_component(tree, links));
}

}  // namespace

Tensor disk_union_area(const Tensor& disks) {
  check_disk_shape(name, disks);
  return apply_with_saved_gradient(name, disks, union_area);
}

}  // namespace boolgrad::geometry
