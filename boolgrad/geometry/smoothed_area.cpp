#include "boolgrad/geometry/smoothed_area.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/geometry/saved_gradient.h"

namespace boolgrad::geometry {
namespace {

constexpr const char* name = "smoothed_union_area";
/// Beyond this distance, in units of 1 / sharpness, the sigmoid is below 1e-13.
constexpr double tail = 30;
constexpr double max_cells = 1e9;

/// A grid of cells of side `side` around the disks; (left, low) is the midpoint of the first.
struct Grid {
  double left = 0;
  double low = 0;
  double side = 0;
  std::size_t columns = 0;
  std::size_t rows = 0;
};

Grid grid_around(std::span<const double> disks, const SmoothedOptions& options) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double left = infinity;
  double right = -infinity;
  double low = infinity;
  double high = -infinity;
  for (std::size_t i = 0; i < disks.size(); i += 3) {
    left = std::min(left, disks[i] - disks[i + 2]);
    right = std::max(right, disks[i] + disks[i + 2]);
    low = std::min(low, disks[i + 1] - disks[i + 2]);
    high = std::max(high, disks[i + 1] + disks[i + 2]);
  }
  const std::size_t count = disks.size() / 3;
  const double margin =
      options.temperature * std::log(static_cast<double>(count)) + tail / options.sharpness;
  Grid grid{.side = options.cell / options.sharpness};
  const double columns = std::ceil((right - left + 2 * margin) / grid.side);
  const double rows = std::ceil((high - low + 2 * margin) / grid.side);
  if (!(columns * rows <= max_cells)) {
    fail(name, "expected a grid of at most 1e9 cells, received {:.3g} by {:.3g}", rows, columns);
  }
  grid.columns = static_cast<std::size_t>(columns);
  grid.rows = static_cast<std::size_t>(rows);
  grid.left = (left + right - (columns - 1) * grid.side) / 2;
  grid.low = (low + high - (rows - 1) * grid.side) / 2;
  return grid;
}

/// The contribution of one grid row to area and gradient, in units of cells.
struct RowSum {
  double area = 0;
  std::vector<double> gradient;
};

/// Evaluates grid rows, with scratch memory for one cell.
class Row {
 public:
  Row(std::span<const double> disks, const SmoothedOptions& options)
      : disks_(disks), options_(options), distance_(disks.size() / 3), weight_(distance_.size()) {}

  RowSum sum(const Grid& grid, std::size_t row) {
    RowSum sum{.gradient = std::vector<double>(disks_.size())};
    const double y = grid.low + static_cast<double>(row) * grid.side;
    for (std::size_t column = 0; column < grid.columns; ++column) {
      add_cell(grid.left + static_cast<double>(column) * grid.side, y, sum);
    }
    return sum;
  }

 private:
  void add_cell(double x, double y, RowSum& sum) {
    const double f = blended_distance(x, y);
    const double inside = 1 / (1 + std::exp(options_.sharpness * f));
    sum.area += inside;
    const double slope = options_.sharpness * inside * (1 - inside);
    if (slope == 0) return;
    for (std::size_t i = 0; i < distance_.size(); ++i) {
      const double share = slope * weight_[i];
      if (distance_[i] > 0) {
        sum.gradient[3 * i] += share * (x - disks_[3 * i]) / distance_[i];
        sum.gradient[3 * i + 1] += share * (y - disks_[3 * i + 1]) / distance_[i];
      }
      sum.gradient[3 * i + 2] += share;
    }
  }

  /// -k log sum e^(-f_i/k) and its derivative with respect to each f_i. Subtracting the least f
  /// avoids overflow.
  double blended_distance(double x, double y) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < distance_.size(); ++i) {
      distance_[i] = std::sqrt((x - disks_[3 * i]) * (x - disks_[3 * i]) +
                               (y - disks_[3 * i + 1]) * (y - disks_[3 * i + 1]));
      least = std::min(least, distance_[i] - disks_[3 * i + 2]);
    }
    double sum = 0;
    for (std::size_t i = 0; i < distance_.size(); ++i) {
      weight_[i] = std::exp((least - (distance_[i] - disks_[3 * i + 2])) / options_.temperature);
      sum += weight_[i];
    }
    for (double& weight : weight_) weight /= sum;
    return least - options_.temperature * std::log(sum);
  }

  std::span<const double> disks_;
  const SmoothedOptions& options_;
  std::vector<double> distance_;
  std::vector<double> weight_;
};

double smoothed_area(std::span<const double> disks, std::span<double> gradient,
                     const SmoothedOptions& options) {
  if (disks.empty()) return 0;
  const Grid grid = grid_around(disks, options);
  std::vector<RowSum> rows(grid.rows);
  parallel_for(grid.rows, [&](std::size_t row) { rows[row] = Row(disks, options).sum(grid, row); });
  double cells = 0;
  std::ranges::fill(gradient, 0);
  for (const RowSum& row : rows) {
    cells += row.area;
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += row.gradient[i];
  }
  const double cell_area = grid.side * grid.side;
  for (double& value : gradient) value *= cell_area;
  return cells * cell_area;
}

void check_positive(const char* what, double value) {
  if (!(value > 0 && std::isfinite(value))) {
    fail(name, "expected a positive {}, received {}", what, value);
  }
}

}  // namespace

Tensor smoothed_union_area(const Tensor& disks, const SmoothedOptions& options) {
  check_disk_shape(name, disks);
  check_positive("temperature", options.temperature);
  check_positive("sharpness", options.sharpness);
  check_positive("cell", options.cell);
  return apply_with_saved_gradient(
      name, disks, [&options](std::span<const double> set, std::span<double> gradient) {
        return smoothed_area(set, gradient, options);
      });
}

}  // namespace boolgrad::geometry
