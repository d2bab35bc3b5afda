#include "boolgrad/train/run/report.h"

#include <fmt/format.h>

#include "boolgrad/core/text.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/samples.h"
#include "boolgrad/picture/plot.h"
#include "boolgrad/train/run/metrics.h"
#include "boolgrad/train/run/run.h"

namespace boolgrad::train {
namespace {

picture::LinePlot loss_plot(const std::string& name, std::string_view hard_loss,
                            const std::filesystem::path& metrics) {
  picture::Series soft{.name = "soft loss", .x = {}, .y = {}};
  picture::Series hard{.name = fmt::format("{}, hardened", hard_loss), .x = {}, .y = {}};
  for (const LoggedLoss& logged : read_losses(metrics)) {
    const auto step = static_cast<double>(logged.step);
    soft.x.push_back(step);
    soft.y.push_back(logged.soft);
    hard.x.push_back(step);
    hard.y.push_back(logged.hard);
  }
  return {.title = name,
          .x_label = "training steps",
          .y_label = "loss",
          .log_y = true,
          .series = {soft, hard}};
}

picture::BarChart gate_chart(const std::string& name, const Inspection& inspection) {
  picture::BarChart chart{.title = name,
                          .value_label = fmt::format("gates by kind ({} in total, {} active)",
                                                     inspection.gates, inspection.active_gates),
                          .labels = {},
                          .values = {}};
  for (const auto& [kind, count] : inspection.kinds) {
    chart.labels.push_back(kind);
    chart.values.push_back(static_cast<double>(count));
  }
  return chart;
}

}  // namespace

Plots write_plots(const std::filesystem::path& folder, const std::string& name,
                  std::string_view hard_loss, const Inspection& inspection) {
  Plots plots{.losses = folder / losses_file, .gates = folder / gates_file};
  const std::string title = printable(name);
  picture::save_line_plot(plots.losses, loss_plot(title, hard_loss, folder / metrics_file));
  picture::save_bar_chart(plots.gates, gate_chart(title, inspection));
  return plots;
}

std::optional<TestResult> test_result(const Experiment& experiment, const RunReport& report) {
  const bool has_test = experiment.task.kind == data::TaskKind::csv && experiment.data.test > 0 &&
                        !experiment.data.in_memory;
  if (!has_test || report.model.empty()) return std::nullopt;
  const LoadedModel loaded = load_model(report.model);
  const Classifier& classifier = *loaded.model.classifier();
  const data::SampleSet samples = load_test_samples(experiment, classifier);
  return TestResult{
      .evaluation = evaluation_of(predict(loaded.model, samples), classifier.head, samples.labels),
      .samples = samples.count()};
}

}  // namespace boolgrad::train
