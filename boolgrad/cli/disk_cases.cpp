#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/cli/reference.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/geometry/pair_area.h"
#include "boolgrad/geometry/union_area.h"

namespace boolgrad::cli {
namespace {

constexpr double area_tolerance = 1e-12;
constexpr double gradient_tolerance = 1e-9;

/// Some of the unions of a case: those near one kind of tangency, or all.
struct Selection {
  std::string name;
  std::vector<std::int64_t> unions;
};

/// The maximum over the selected unions of max |value - reference| / max |reference| within the
/// union; NaN if a value is NaN.
double error_by_union(const Tensor& value, const Tensor& reference, std::int64_t unions,
                      const Selection& of) {
  const std::int64_t elements = reference.size() / unions;
  double worst = 0;
  for (const std::int64_t i : of.unions) {
    double largest = 0;
    double difference = 0;
    for (std::int64_t j = i * elements; j < (i + 1) * elements; ++j) {
      const double error = std::abs(value.at(j) - reference.at(j));
      if (std::isnan(error)) return error;
      difference = std::max(difference, error);
      largest = std::max(largest, std::abs(reference.at(j)));
    }
    worst = std::max(worst, largest > 0 ? difference / largest : difference);
  }
  return worst;
}

/// Tensors of one case, compared union by union.
class DiskComparison {
 public:
  DiskComparison(const ReferenceCase& of, std::vector<Check>& checks) : of_(of), checks_(checks) {
    const std::int64_t unions = of.tensor("area").size();
    if (of.tensor("disks").rank() != 3 || of.tensor("disks").shape()[0] != unions || unions == 0) {
      fail("verify", "{}: expected disks [{}, n, 3] in {}, received {}", of.path().string(), unions,
           of.name(), to_string(of.tensor("disks").shape()));
    }
  }

  void add(const Selection& of, const std::string& part, const std::string& shown,
           const Tensor& value, double tolerance) const {
    Check check{.name = of.name, .tensor = shown};
    check.tolerance = tolerance;
    const Tensor& reference = of_.tensor(part);
    if (value.size() == reference.size()) {
      check.error = error_by_union(value, reference, of_.tensor("area").size(), of);
    } else {
      check.message =
          fmt::format("expected {} elements, received {}", reference.size(), value.size());
    }
    checks_.push_back(check);
  }

 private:
  const ReferenceCase& of_;
  std::vector<Check>& checks_;
};

struct AreaAndGradient {
  Tensor area;
  Tensor gradient;
};

AreaAndGradient compute(Tensor (*area_of)(const Tensor&), const Tensor& disks) {
  const Tensor leaf = parameter(disks);
  const Tensor area = area_of(leaf);
  return {area.detach(),
          grad(area, {leaf}, {.upstream = Tensor::ones(area.shape(), area.dtype())})[0]};
}

/// Pairs that are near no tangency, near the external and near the internal one.
std::vector<Selection> by_boundary(const ReferenceCase& of) {
  std::vector<Selection> result = {
      {of.name(), {}}, {of.name() + ".external", {}}, {of.name() + ".internal", {}}};
  const Tensor& boundary = of.tensor("boundary");
  if (boundary.size() != of.tensor("area").size()) {
    fail("verify", "{}: expected one boundary for each of {} pairs, received {}",
         of.path().string(), of.tensor("area").size(), boundary.size());
  }
  for (std::int64_t i = 0; i < boundary.size(); ++i) {
    const double kind = boundary.at(i);
    if (kind != 0 && kind != 1 && kind != 2) {
      fail("verify", "{}: expected a boundary of 0, 1 or 2, received {}", of.path().string(), kind);
    }
    result[static_cast<std::size_t>(kind)].unions.push_back(i);
  }
  return result;
}

Selection all_of(const ReferenceCase& of) {
  Selection all{of.name(), {}};
  for (std::int64_t i = 0; i < of.tensor("area").size(); ++i) all.unions.push_back(i);
  return all;
}

void verify_case(const ReferenceCase& of, std::vector<Check>& checks) {
  const DiskComparison compare(of, checks);
  const Tensor& disks = of.tensor("disks");
  const bool pairs = of.has("label");
  const AreaAndGradient united = compute(geometry::disk_union_area, disks);
  for (const Selection& some : pairs ? by_boundary(of) : std::vector{all_of(of)}) {
    if (pairs) {
      const AreaAndGradient paired = compute(geometry::disk_pair_area, disks);
      compare.add(some, "area", "area", paired.area, area_tolerance);
      compare.add(some, "grad", "grad", paired.gradient, gradient_tolerance);
      compare.add(some, "label", "label", geometry::disk_pair_strata(disks), 0);
    }
    const std::string prefix = pairs ? "union." : "";
    compare.add(some, "area", prefix + "area", united.area, area_tolerance);
    compare.add(some, "grad", prefix + "grad", united.gradient, gradient_tolerance);
  }
}

constexpr const char* mark = "/disks";

}  // namespace

bool holds_disk_cases(const TensorFile& file) { return !case_names(file, mark).empty(); }

std::vector<Check> verify_disks(const std::filesystem::path& path, const TensorFile& file,
                                const Device& /*device*/) {
  std::vector<Check> checks;
  for (const std::string& name : case_names(file, mark)) {
    verify_case(ReferenceCase(path, file, name), checks);
  }
  return checks;
}

}  // namespace boolgrad::cli
