// The benchmark "geometry": areas and gradients of unions of disks, exact and smoothed.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/cli/reference.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/geometry/boundary_study.h"
#include "boolgrad/geometry/pair_area.h"
#include "boolgrad/geometry/union_area.h"
#include "boolgrad/picture/plot.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t standard_pairs = 1'000'000;
constexpr std::int64_t standard_unions[] = {1'000, 10'000, 100'000};

using AreaFunction = Tensor (*)(const Tensor&);

struct AreaAndGradient {
  Tensor area;
  Tensor gradient;
};

AreaAndGradient compute(AreaFunction area_of, const Tensor& disks) {
  const Tensor leaf = parameter(disks);
  const Tensor area = area_of(leaf);
  return {area.detach(),
          grad(area, {leaf}, {.upstream = Tensor::ones(area.shape(), area.dtype())})[0]};
}

/// The larger error of area and gradient, each relative to its largest value.
double error_of(const AreaAndGradient& value, const AreaAndGradient& reference) {
  const double area = relative_error(value.area, reference.area);
  const double gradient = relative_error(value.gradient, reference.gradient);
  return area <= gradient ? gradient : area;  // so that a NaN stays
}

BenchmarkRow timed(const std::string& name, AreaFunction area_of, const Tensor& disks,
                   const AreaAndGradient& reference, int repeat) {
  BenchmarkRow row{"geometry." + name, {}};
  row.error = error_of(compute(area_of, disks), reference);
  row.time = measure([&] { compute(area_of, disks); }, repeat);
  return row;
}

double uniform(std::uint32_t stream, std::uint64_t index) {
  return random_uniform({.seed = 1, .stream = stream, .index = index});
}

/// Pairs of which about half intersect; the others are disjoint or contained.
Tensor random_pairs(std::int64_t count) {
  Tensor disks({count, 2, 3}, DType::float64);
  const auto values = disks.mutable_values<double>();
  for (std::size_t i = 0; i < values.size(); i += 3) {
    values[i] = 2 * uniform(1, i);
    values[i + 1] = 2 * uniform(2, i);
    values[i + 2] = 0.1 + uniform(3, i);
  }
  return disks;
}

/// Disks on a square that grows with their number, so that each meets about seven others.
Tensor random_union(std::int64_t count) {
  Tensor disks({count, 3}, DType::float64);
  const auto values = disks.mutable_values<double>();
  const double side = std::sqrt(static_cast<double>(count));
  for (std::size_t i = 0; i < values.size(); i += 3) {
    values[i] = side * uniform(4, i);
    values[i + 1] = side * uniform(5, i);
    values[i + 2] = 0.25 + 0.5 * uniform(6, i);
  }
  return disks;
}

/// Rotates each disk (x, y, r) to (-y, x, r): a quarter turn, without rounding.
Tensor quarter_turn(const Tensor& disks) {
  Tensor turned = disks.clone();
  const auto values = turned.mutable_values<double>();
  for (std::size_t i = 0; i < values.size(); i += 3) {
    const double x = values[i];
    values[i] = -values[i + 1];
    values[i + 1] = x;
  }
  return turned;
}

/// Area and gradient computed after a quarter turn, rotated back.
AreaAndGradient turned_reference(const Tensor& disks) {
  const AreaAndGradient turned = compute(geometry::disk_union_area, quarter_turn(disks));
  const Tensor half = quarter_turn(quarter_turn(turned.gradient));
  return {turned.area, quarter_turn(half)};
}

void bench_standard(int repeat, const Report& report) {
  const Tensor pairs = random_pairs(standard_pairs);
  report(timed("pairs", geometry::disk_pair_area, pairs, compute(geometry::disk_union_area, pairs),
               repeat));
  for (const std::int64_t count : standard_unions) {
    const Tensor disks = random_union(count);
    report(timed(fmt::format("union.{}", count), geometry::disk_union_area, disks,
                 turned_reference(disks), repeat));
  }
}

void bench_file(const BenchOptions& options, const Report& report) {
  const TensorFile file = load_safetensors(options.file);
  if (!holds_disk_cases(file)) {
    fail("bench", "{}: expected disks with areas and gradients, received other tensors",
         options.file);
  }
  for (const std::string& name : case_names(file, "/disks")) {
    const ReferenceCase of(options.file, file, name);
    const AreaFunction area =
        of.has("label") ? geometry::disk_pair_area : geometry::disk_union_area;
    report(timed(name, area, of.tensor("disks"), {of.tensor("area"), of.tensor("grad")},
                 options.repeat));
  }
}

// ---------------------------------------------------------------------------------------------
// The study of tangencies

const char* name_of(geometry::StudyTangency tangency) {
  return tangency == geometry::StudyTangency::external ? "external" : "internal";
}

const char* name_of(geometry::AreaMethod method) {
  switch (method) {
    case geometry::AreaMethod::exact: return "exact";
    case geometry::AreaMethod::smoothed: return "smoothed";
    case geometry::AreaMethod::hybrid: return "hybrid";
  }
  return "";
}

nlohmann::json to_json(const geometry::BoundaryRow& row) {
  return {{"tangency", name_of(row.tangency)},
          {"meeting", row.meeting},
          {"distance", row.distance},
          {"exact", row.exact_error},
          {"smoothed", row.smoothed_errors}};
}

nlohmann::json to_json(const geometry::ApproachRow& row) {
  return {{"tangency", name_of(row.tangency)},
          {"distance", row.distance},
          {"meeting", row.meeting},
          {"beyond", row.beyond},
          {"change", row.change}};
}

nlohmann::json to_json(const geometry::StudyFit& fit) {
  const std::vector<geometry::FitStep>& history = fit.result.history;
  return {{"problem", fit.problem},
          {"method", name_of(fit.method)},
          {"target", fit.target},
          {"error", fit.result.error},
          {"steps", history.size() - 1},
          {"smoothed_steps", std::ranges::count(history, true, &geometry::FitStep::smoothed)},
          {"converged", fit.result.converged},
          {"stuck", fit.result.stuck}};
}

template <class Row>
nlohmann::json to_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) list.push_back(to_json(row));
  return list;
}

void plot_errors(const std::vector<geometry::BoundaryRow>& rows, geometry::StudyTangency tangency,
                 bool meeting, const std::filesystem::path& path) {
  const char* beyond =
      tangency == geometry::StudyTangency::external ? "disks apart" : "one disk inside";
  picture::LinePlot plot{
      .title = fmt::format("Error of the gradient near {} tangency, {}", name_of(tangency),
                           meeting ? "circles that meet" : beyond),
      .x_label = "distance from the tangency",
      .y_label = "relative error of the gradient",
      .log_y = true,
      .series = {{"exact", {}, {}}},
      .log_x = true};
  for (const double temperature : geometry::study_temperatures) {
    plot.series.push_back({fmt::format("smoothed, k = {}", temperature), {}, {}});
  }
  for (const geometry::BoundaryRow& row : rows) {
    if (row.tangency != tangency || row.meeting != meeting) continue;
    for (picture::Series& series : plot.series) series.x.push_back(row.distance);
    plot.series[0].y.push_back(row.exact_error);
    for (std::size_t i = 0; i < row.smoothed_errors.size(); ++i) {
      plot.series[i + 1].y.push_back(row.smoothed_errors[i]);
    }
  }
  picture::save_line_plot(path, plot);
}

void plot_approach(const std::vector<geometry::ApproachRow>& rows,
                   const std::filesystem::path& path) {
  picture::LinePlot plot{.title = "Distance of the gradient from its value at the tangency",
                         .x_label = "distance from the tangency",
                         .y_label = "largest difference of a component",
                         .log_y = true,
                         .series = {{"external, circles meet", {}, {}},
                                    {"internal, circles meet", {}, {}},
                                    {"either, beyond", {}, {}}},
                         .log_x = true};
  for (const geometry::ApproachRow& row : rows) {
    picture::Series& meeting =
        plot.series[row.tangency == geometry::StudyTangency::external ? 0 : 1];
    meeting.x.push_back(row.distance);
    meeting.y.push_back(row.meeting);
    if (row.tangency == geometry::StudyTangency::external) continue;
    plot.series[2].x.push_back(row.distance);
    plot.series[2].y.push_back(row.beyond);
  }
  picture::save_line_plot(path, plot);
}

void plot_fits(const std::vector<geometry::StudyFit>& fits, const std::string& problem,
               const std::filesystem::path& path) {
  picture::LinePlot plot{.title = fmt::format("Fit of a {} to a given area of the union", problem),
                         .x_label = "step",
                         .y_label = "relative error of the area",
                         .log_y = true,
                         .series = {},
                         .log_x = false};
  for (const geometry::StudyFit& fit : fits) {
    if (fit.problem != problem) continue;
    picture::Series series{name_of(fit.method), {}, {}};
    for (const geometry::FitStep& step : fit.result.history) {
      series.x.push_back(static_cast<double>(series.x.size()));
      series.y.push_back(std::abs(step.area - fit.target) / fit.target);
    }
    plot.series.push_back(series);
  }
  picture::save_line_plot(path, plot);
}

void study(const BenchOptions& options, nlohmann::json& facts) {
  const std::vector<geometry::BoundaryRow> errors = geometry::errors_near_tangencies();
  const std::vector<geometry::ApproachRow> approach = geometry::approach_to_tangencies();
  const std::vector<geometry::StudyFit> fits = geometry::fits_to_an_area();
  facts["geometry"] = {
      {"errors", to_json(errors)}, {"approach", to_json(approach)}, {"fits", to_json(fits)}};
  if (options.plots.empty()) return;
  const std::filesystem::path folder = options.plots;
  std::filesystem::create_directories(folder);
  for (const geometry::StudyTangency tangency :
       {geometry::StudyTangency::external, geometry::StudyTangency::internal}) {
    for (const bool meeting : {true, false}) {
      plot_errors(errors, tangency, meeting,
                  folder / fmt::format("tangency_{}_{}.png", name_of(tangency),
                                       meeting ? "meeting" : "beyond"));
    }
  }
  plot_approach(approach, folder / "tangency_approach.png");
  plot_fits(fits, "radius", folder / "fit_radius.png");
  plot_fits(fits, "centre", folder / "fit_centre.png");
}

}  // namespace

void bench_geometry(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  if (!options.file.empty()) {
    bench_file(options, report);
    return;
  }
  bench_standard(options.repeat, report);
  study(options, facts);
}

}  // namespace boolgrad::cli
