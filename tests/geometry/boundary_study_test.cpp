// The claims of docs/studies/boundaries.md.
#include "boolgrad/geometry/boundary_study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace boolgrad::geometry {
namespace {

TEST(BoundaryStudy, TheExactGradientIsAccurateAtEveryDistance) {
  const std::vector<BoundaryRow> rows = errors_near_tangencies();
  ASSERT_EQ(rows.size(), 4 * 14U);
  for (const BoundaryRow& row : rows) EXPECT_LE(row.exact_error, 1e-15) << row.distance;
  EXPECT_LE(std::ranges::min(rows, {}, &BoundaryRow::distance).distance, 1.1e-8);
}

TEST(BoundaryStudy, SmoothingHasErrorsOfPercents) {
  for (const BoundaryRow& row : errors_near_tangencies()) {
    if (std::abs(row.distance - 0.01) > 1e-9) continue;
    EXPECT_GT(row.smoothed_errors[1], 0.01);
    EXPECT_LT(row.smoothed_errors[1], 0.22);
    if (row.tangency == StudyTangency::external && row.meeting) {
      EXPECT_NEAR(row.smoothed_errors[1], 0.050, 0.005);
    }
  }
}

TEST(BoundaryStudy, TheGradientIsContinuous) {
  for (const ApproachRow& row : approach_to_tangencies()) {
    EXPECT_LE(row.beyond, 1e-15);
    const double chord =
        row.tangency == StudyTangency::external ? std::sqrt(8.0 / 3) : std::sqrt(8);
    if (row.distance < 1e-3) {
      EXPECT_NEAR(row.change / std::sqrt(row.distance), chord, 1e-3) << row.distance;
    }
  }
}

TEST(BoundaryStudy, OnlyTheHybridSolvesBothProblems) {
  const std::vector<StudyFit> fits = fits_to_an_area();
  ASSERT_EQ(fits.size(), 6U);
  for (const StudyFit& fit : fits) {
    const bool crosses = fit.problem == "centre";
    const bool solves =
        fit.method == AreaMethod::hybrid || (fit.method == AreaMethod::exact && !crosses);
    EXPECT_EQ(fit.result.error <= 1e-12, solves) << fit.problem;
    EXPECT_EQ(fit.result.stuck, crosses && fit.method == AreaMethod::exact);
  }
}

}  // namespace
}  // namespace boolgrad::geometry
