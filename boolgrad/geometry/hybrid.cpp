#include "boolgrad/geometry/hybrid.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/error.h"
#include "boolgrad/geometry/union_area.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

constexpr const char* name = "fit_union_area";

/// An area and its derivatives by the free numbers; 0 by the others.
struct Slope {
  double area = 0;
  std::vector<double> gradient;
};

class Fit {
 public:
  Fit(const Tensor& disks, const Tensor& free, double target, const FitOptions& options)
      : disks_(cast(disks.detach(), DType::float64).clone()),
        free_(free),
        target_(target),
        options_(options),
        exploring_(options.method != AreaMethod::exact) {}

  FitResult run() {
    FitResult result;
    for (std::int64_t step = 0;; ++step) {
      const Slope exact = slope(false);
      Slope used = exploring_ ? slope(true) : exact;
      if (exploring_ && turns_exact(used, step)) {
        exploring_ = false;
        used = exact;
      }
      result.history.push_back({exact.area, exploring_});
      result.error = std::abs(exact.area - target_) / target_;
      result.converged = std::abs(used.area - target_) <= options_.tolerance * target_;
      if (result.converged || step == options_.most_steps) break;
      result.stuck = !take_step(used);
      if (result.stuck) break;
    }
    result.disks = disks_;
    return result;
  }

 private:
  bool turns_exact(const Slope& used, std::int64_t step) const {
    if (options_.method != AreaMethod::hybrid) return false;
    return std::abs(used.area - target_) <= options_.explored * target_ ||
           step >= options_.most_steps / 2;
  }

  Slope slope(bool smoothed) const {
    const Tensor leaf = parameter(disks_);
    const Tensor area =
        smoothed ? smoothed_union_area(leaf, options_.smoothed) : disk_union_area(leaf);
    const Tensor gradient = grad(area, {leaf})[0];
    Slope result{area.item(), {}};
    for (std::int64_t i = 0; i < gradient.size(); ++i) {
      result.gradient.push_back(free_.at(i) != 0 ? gradient.at(i) : 0);
    }
    return result;
  }

  /// Returns whether there was a way to go.
  bool take_step(const Slope& at) {
    const double squares =
        std::inner_product(at.gradient.begin(), at.gradient.end(), at.gradient.begin(), 0.0);
    if (!(squares > 0)) return false;
    const double length = std::sqrt(squares);
    const double wanted = (target_ - at.area) / length;
    const double step = std::clamp(wanted, -options_.longest_step, options_.longest_step);
    const auto numbers = disks_.mutable_values<double>();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] += step * (at.gradient[i] / length);
      if (i % 3 == 2) numbers[i] = std::max(numbers[i], 0.0);
    }
    return true;
  }

  Tensor disks_;
  const Tensor& free_;
  double target_;
  const FitOptions& options_;
  bool exploring_;
};

}  // namespace

FitResult fit_union_area(const Tensor& disks, const Tensor& free, double target,
                         const FitOptions& options) {
  check_disk_shape(name, disks);
  if (disks.rank() != 2) {
    fail(name, "expected one set of disks [n, 3], received {}", to_string(disks.shape()));
  }
  if (!free.defined() || free.shape() != disks.shape()) {
    fail(name, "expected a mark of the shape {} for what is free, received {}",
         to_string(disks.shape()), free.defined() ? to_string(free.shape()) : "none");
  }
  if (!(target > 0 && std::isfinite(target))) {
    fail(name, "expected a target area above 0, received {}", target);
  }
  if (!(options.longest_step > 0)) {
    fail(name, "expected a longest step above 0, received {}", options.longest_step);
  }
  return Fit(disks, free, target, options).run();
}

}  // namespace boolgrad
