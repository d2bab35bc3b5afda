#include "boolgrad/geometry/boundary_study.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/geometry/pair_area.h"
#include "boolgrad/geometry/smoothed_area.h"
#include "boolgrad/geometry/union_area.h"

namespace boolgrad::geometry {
namespace {

/// The gradient of the area with respect to x, y, r of both disks.
using PairGradient = std::array<double, 6>;

/// The unit disk at the origin, and a disk of radius `r` at (x, 0).
Tensor disks_of(double x, double r) {
  return Tensor::of(std::vector<double>{0, 0, 1, x, 0, r}, {2, 3});
}

template <class Area>
PairGradient gradient_at(double x, const Area& area_of) {
  const Tensor leaf = parameter(disks_of(x, study_radius));
  const Tensor slope = grad(area_of(leaf), {leaf})[0];
  PairGradient result;
  std::ranges::copy(slope.values<double>(), result.begin());
  return result;
}

/// The exact formulas for centres on the x-axis, in long double.
std::array<long double, 6> true_gradient(double x) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  constexpr long double a = 1;
  constexpr long double b = study_radius;
  const long double d = x;
  if (d > a + b) return {0, 0, 2 * pi * a, 0, 0, 2 * pi * b};
  if (d < a - b) return {0, 0, 2 * pi * a, 0, 0, 0};
  const long double all = a + b + d;
  const long double across = a + b - d;
  const long double outer = d - (a - b);
  const long double side = d + (a - b);
  const long double at_a = 2 * std::atan2(std::sqrt(across * outer), std::sqrt(all * side));
  const long double at_b = 2 * std::atan2(std::sqrt(across * side), std::sqrt(all * outer));
  const long double chord = std::sqrt(across * outer * all * side) / d;
  return {-chord, 0, 2 * a * (pi - at_a), chord, 0, 2 * b * (pi - at_b)};
}

double relative_error(const PairGradient& value, const std::array<long double, 6>& reference) {
  long double difference = 0;
  long double squares = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const long double error = value[i] - reference[i];
    difference += error * error;
    squares += reference[i] * reference[i];
  }
  return static_cast<double>(std::sqrt(difference / squares));
}

double largest_difference(const PairGradient& a, const PairGradient& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

double place_of(StudyTangency tangency) {
  return tangency == StudyTangency::external ? 1 + study_radius : 1 - study_radius;
}

/// The position of the second centre at `distance` from the tangency, on one of its sides.
double centre_at(StudyTangency tangency, double distance, bool meeting) {
  const bool towards_first = (tangency == StudyTangency::external) == meeting;
  return place_of(tangency) + (towards_first ? -distance : distance);
}

BoundaryRow errors_at(StudyTangency tangency, double distance, bool meeting) {
  const double x = centre_at(tangency, distance, meeting);
  BoundaryRow row{tangency, meeting, std::abs(x - place_of(tangency))};
  const auto truth = true_gradient(x);
  row.exact_error = relative_error(gradient_at(x, disk_pair_area), truth);
  for (std::size_t i = 0; i < study_temperatures.size(); ++i) {
    const SmoothedOptions options{.temperature = study_temperatures[i],
                                  .sharpness = study_sharpness};
    const auto smoothed = [&](const Tensor& disks) { return smoothed_union_area(disks, options); };
    row.smoothed_errors[i] = relative_error(gradient_at(x, smoothed), truth);
  }
  return row;
}

constexpr std::array methods = {AreaMethod::exact, AreaMethod::smoothed, AreaMethod::hybrid};

StudyFit fit(const std::string& problem, AreaMethod method, const Tensor& disks, const Tensor& free,
             double target) {
  return {problem, method, target, fit_union_area(disks, free, target, {.method = method})};
}

}  // namespace

std::vector<BoundaryRow> errors_near_tangencies() {
  constexpr double distances[] = {0.5,  0.2,  0.1,  0.05, 0.02, 0.01, 5e-3,
                                  2e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
  std::vector<BoundaryRow> rows;
  for (const StudyTangency tangency : {StudyTangency::external, StudyTangency::internal}) {
    for (const bool meeting : {true, false}) {
      for (const double distance : distances) {
        rows.push_back(errors_at(tangency, distance, meeting));
      }
    }
  }
  return rows;
}

std::vector<ApproachRow> approach_to_tangencies() {
  std::vector<ApproachRow> rows;
  for (const StudyTangency tangency : {StudyTangency::external, StudyTangency::internal}) {
    const PairGradient limit = gradient_at(place_of(tangency), disk_pair_area);
    for (int exponent = 1; exponent <= 12; ++exponent) {
      const double distance = std::pow(10.0, -exponent);
      const PairGradient meeting = gradient_at(centre_at(tangency, distance, true), disk_pair_area);
      const PairGradient beyond = gradient_at(centre_at(tangency, distance, false), disk_pair_area);
      rows.push_back({tangency, distance, largest_difference(meeting, limit),
                      largest_difference(beyond, limit), largest_difference(meeting, beyond)});
    }
  }
  return rows;
}

std::vector<StudyFit> fits_to_an_area() {
  // A radius grows from 0.6 to 0.83 at distance 1.4 from the unit disk. The circles always
  // intersect.
  const Tensor small = disks_of(1.4, 0.6);
  const Tensor radius = Tensor::of(std::vector<double>{0, 0, 0, 0, 0, 1}, {2, 3});
  const double grown = disk_union_area(disks_of(1.4, 0.83)).item();
  // A centre moves from distance 2.25 to 1.4, past the tangency at 1.8.
  const Tensor apart = disks_of(2.25, 0.8);
  const Tensor centre = Tensor::of(std::vector<double>{0, 0, 0, 1, 1, 0}, {2, 3});
  const double overlapping = disk_union_area(disks_of(1.4, 0.8)).item();
  std::vector<StudyFit> fits;
  for (const AreaMethod method : methods) {
    fits.push_back(fit("radius", method, small, radius, grown));
  }
  for (const AreaMethod method : methods) {
    fits.push_back(fit("centre", method, apart, centre, overlapping));
  }
  return fits;
}

}  // namespace boolgrad::geometry
