#include "boolgrad/geometry/hybrid.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/geometry/union_area.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::geometry {
namespace {

constexpr const char* name = "fit_union_area";

/// An area and its gradient with respect to the free parameters; 0 for the others.
struct Linearisation {
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
      const Linearisation exact = linearised(false);
      Linearisation used = exploring_ ? linearised(true) : exact;
      if (exploring_ && switches_to_exact(used, step)) {
        exploring_ = false;
        used = exact;
      }
      result.history.push_back({exact.area, exploring_});
      result.error = std::abs(exact.area - target_) / target_;
      result.converged = std::abs(used.area - target_) <= options_.tolerance * target_;
      if (result.converged || step == options_.max_steps) break;
      result.stuck = !take_step(used);
      if (result.stuck) break;
    }
    result.disks = disks_;
    return result;
  }

 private:
  bool switches_to_exact(const Linearisation& used, std::int64_t step) const {
    if (options_.method != AreaMethod::hybrid) return false;
    return std::abs(used.area - target_) <= options_.switch_tolerance * target_ ||
           step >= options_.max_steps / 2;
  }

  Linearisation linearised(bool smoothed) const {
    const Tensor leaf = parameter(disks_);
    const Tensor area =
        smoothed ? smoothed_union_area(leaf, options_.smoothed) : disk_union_area(leaf);
    const Tensor gradient = grad(area, {leaf})[0];
    Linearisation result{area.item(), {}};
    for (std::int64_t i = 0; i < gradient.size(); ++i) {
      result.gradient.push_back(free_.at(i) != 0 ? gradient.at(i) : 0);
    }
    return result;
  }

  /// Returns whether the gradient is not 0.
  bool take_step(const Linearisation& at) {
    const double squares =
        std::inner_product(at.gradient.begin(), at.gradient.end(), at.gradient.begin(), 0.0);
    if (!(squares > 0)) return false;
    const double length = std::sqrt(squares);
    const double wanted = (target_ - at.area) / length;
    const double step = std::clamp(wanted, -options_.max_step_length, options_.max_step_length);
    const auto values = disks_.mutable_values<double>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += step * (at.gradient[i] / length);
      if (i % 3 == 2) values[i] = std::max(values[i], 0.0);
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
    fail(name, "expected a mask of shape {} for the free parameters, received {}",
         to_string(disks.shape()), free.defined() ? to_string(free.shape()) : "none");
  }
  if (!(target > 0 && std::isfinite(target))) {
    fail(name, "expected a target area above 0, received {}", target);
  }
  if (!(options.max_step_length > 0)) {
    fail(name, "expected a positive max_step_length, received {}", options.max_step_length);
  }
  return Fit(disks, free, target, options).run();
}

}  // namespace boolgrad::geometry
