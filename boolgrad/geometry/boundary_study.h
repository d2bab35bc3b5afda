// What gradients are worth where the arrangement of two disks changes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "boolgrad/geometry/hybrid.h"

namespace boolgrad {

/// A unit disk and one of radius a half, whose centre is moved along a line.
inline constexpr double study_radius = 0.5;
inline constexpr std::array study_temperatures = {0.01, 0.1, 1.0};
inline constexpr double study_sharpness = 100;

enum class StudyTangency : bool { external, internal };

/// Gradients at one distance from a tangency, on one side of it.
struct BoundaryRow {
  StudyTangency tangency = StudyTangency::external;
  bool meeting = false;  ///< on the side where the circles meet
  double distance = 0;   ///< of the disks that were used: what is left after rounding
  /// |gradient - true gradient| / |true gradient|, over all six numbers of the pair.
  double exact_error = 0;
  std::array<double, study_temperatures.size()> smoothed_errors{};
};

/// Distances from 0.5 down to 1e-8, both sides of both tangencies. The true gradient is computed in
/// long double.
std::vector<BoundaryRow> errors_near_tangencies();

/// How far the exact gradient is from the gradient at the tangency itself.
struct ApproachRow {
  StudyTangency tangency = StudyTangency::external;
  double distance = 0;  ///< from the tangency, on either side
  double meeting = 0;   ///< largest component of the difference where the circles meet
  double beyond = 0;    ///< and on the other side
  double change = 0;    ///< largest component of the difference of both sides
};

/// Distances from 0.1 down to 1e-12.
std::vector<ApproachRow> approach_to_tangencies();

struct StudyFit {
  std::string problem;
  AreaMethod method = AreaMethod::exact;
  double target = 0;
  FitResult result;
};

/// A radius that gives a wanted area without a change of the arrangement, and a centre that has to
/// come from outside to give one that only overlapping disks have; each by all three methods.
std::vector<StudyFit> fits_to_an_area();

}  // namespace boolgrad
