// The study of gradients near tangencies of two disks: docs/studies/boundaries.md.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "boolgrad/geometry/hybrid.h"

namespace boolgrad::geometry {

/// The radius of the moving disk. The fixed one is the unit disk.
inline constexpr double study_radius = 0.5;
/// Temperatures of the smoothed area.
inline constexpr std::array study_temperatures = {0.01, 0.1, 1.0};
/// Sharpness of the smoothed area.
inline constexpr double study_sharpness = 100;

/// The two kinds of tangency.
enum class StudyTangency : bool { external, internal };

/// Gradient errors at one distance from a tangency, on one side of it.
struct BoundaryRow {
  StudyTangency tangency = StudyTangency::external;
  bool meeting = false;  ///< on the side where the circles intersect
  double distance = 0;   ///< from the tangency, after rounding of the coordinates
  /// |gradient - true gradient| / |true gradient|, over all six parameters of the pair.
  double exact_error = 0;
  std::array<double, study_temperatures.size()> smoothed_errors{};
};

/// Errors at distances from 0.5 down to 1e-8, on both sides of both tangencies. The true gradient
/// is computed in long double.
std::vector<BoundaryRow> errors_near_tangencies();

/// The difference between the exact gradient near a tangency and at it.
struct ApproachRow {
  StudyTangency tangency = StudyTangency::external;
  double distance = 0;  ///< from the tangency, on either side
  double meeting = 0;   ///< largest component on the side where the circles intersect
  double beyond = 0;    ///< largest component on the other side
  double change = 0;    ///< largest component of the difference between the sides
};

/// Differences at distances from 0.1 down to 1e-12.
std::vector<ApproachRow> approach_to_tangencies();

/// The result of one fit.
struct StudyFit {
  std::string problem;
  AreaMethod method = AreaMethod::exact;
  double target = 0;
  FitResult result;
};

/// Two problems, each solved by all three methods. One fits a radius within a stratum; the other
/// fits a centre that has to move from a disjoint to an intersecting position.
std::vector<StudyFit> fits_to_an_area();

}  // namespace boolgrad::geometry
