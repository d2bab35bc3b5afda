#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "arrays.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/geometry/hybrid.h"
#include "boolgrad/geometry/impact.h"
#include "boolgrad/geometry/pair_area.h"
#include "boolgrad/geometry/smoothed_area.h"
#include "boolgrad/geometry/union_area.h"
#include "boolgrad/ops/shaping.h"
#include "module.h"

namespace boolgrad::python {
namespace {

/// Disks as floats. Integers become float64.
Tensor disks_of(nb::handle disks, std::string_view where) {
  const Tensor x = tensor_of(disks, where, "disks");
  return is_floating(x.dtype()) ? x : cast(x, DType::float64);
}

/// The value of a function of disks and, if wanted, its gradient: that of each set of disks with
/// respect to its own parameters, since sets do not depend on each other.
nb::object value_of(nb::handle disks, std::string_view where, bool with_gradient,
                    const std::function<Tensor(const Tensor&)>& function) {
  const Tensor x = disks_of(disks, where);
  Tensor value;
  Tensor gradient;
  {
    const nb::gil_scoped_release no_gil;
    if (with_gradient) {
      const Tensor tracked = parameter(x);
      value = function(tracked);
      gradient = grad(value, tracked, {.upstream = Tensor::ones(value.shape(), value.dtype())});
    } else {
      const NoGrad off_the_tape;
      value = function(x);
    }
  }
  if (!with_gradient) return array_of(value);
  return nb::make_tuple(array_of(value), array_of(gradient));
}

geometry::AreaMethod method_called(const std::string& name) {
  if (name == "exact") return geometry::AreaMethod::exact;
  if (name == "smoothed") return geometry::AreaMethod::smoothed;
  if (name == "hybrid") return geometry::AreaMethod::hybrid;
  fail("fit_union_area", "expected the method exact, smoothed or hybrid, received {}", name);
}

nb::dict fit(nb::handle disks, nb::handle free, double target, const std::string& method,
             std::int64_t max_steps, double tolerance) {
  constexpr const char* where = "fit_union_area";
  const Tensor x = cast(disks_of(disks, where), DType::float64);
  const Tensor mask = cast(tensor_of(free, where, "free"), DType::float64);
  geometry::FitResult result;
  {
    const nb::gil_scoped_release no_gil;
    geometry::FitOptions options{.method = method_called(method)};
    options.max_steps = max_steps;
    options.tolerance = tolerance;
    result = geometry::fit_union_area(x, mask, target, options);
  }
  std::vector<double> areas;
  for (const geometry::FitStep& step : result.history) areas.push_back(step.area);
  nb::dict answer;
  answer["disks"] = array_of(result.disks);
  answer["areas"] = array_of(areas);
  answer["error"] = result.error;
  answer["converged"] = result.converged;
  answer["stuck"] = result.stuck;
  return answer;
}

}  // namespace

void bind_geometry(nb::module_& package) {
  using nb::literals::operator""_a;
  nb::module_ module = package.def_submodule("geometry");
  module.def(
      "disk_union_area",
      [](nb::handle disks, bool grad) {
        return value_of(disks, "disk_union_area", grad, geometry::disk_union_area);
      },
      "disks"_a.none(), "grad"_a = false);
  module.def(
      "disk_pair_area",
      [](nb::handle disks, bool grad) {
        return value_of(disks, "disk_pair_area", grad, geometry::disk_pair_area);
      },
      "disks"_a.none(), "grad"_a = false);
  module.def(
      "smoothed_union_area",
      [](nb::handle disks, double temperature, double sharpness, double cell, bool grad) {
        return value_of(disks, "smoothed_union_area", grad, [&](const Tensor& x) {
          return geometry::smoothed_union_area(x, {temperature, sharpness, cell});
        });
      },
      "disks"_a.none(), "temperature"_a = 0.1, "sharpness"_a = 100.0, "cell"_a = 1.0,
      "grad"_a = false);
  module.def(
      "time_of_impact",
      [](nb::handle disks, std::pair<double, double> direction, bool grad) {
        return value_of(disks, "time_of_impact", grad, [&](const Tensor& x) {
          return geometry::time_of_impact(x, {direction.first, direction.second});
        });
      },
      "disks"_a.none(), "direction"_a = std::pair<double, double>(1, 0), "grad"_a = false);
  module.def(
      "disk_pair_strata",
      [](nb::handle disks) {
        return array_of(geometry::disk_pair_strata(disks_of(disks, "disk_pair_strata")));
      },
      "disks"_a.none());
  module.def("fit_union_area", &fit, "disks"_a.none(), "free"_a.none(), "target"_a, nb::kw_only(),
             "method"_a = "hybrid", "max_steps"_a = 200, "tolerance"_a = 1e-12);
}

}  // namespace boolgrad::python
