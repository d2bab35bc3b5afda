#include "boolgrad/train/sweep/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/picture/plot.h"

namespace boolgrad::train {
namespace {

/// A CSV field, quoted if needed.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

std::vector<std::string> header_of(const Sweep& sweep) {
  std::vector<std::string> names = {"seed"};
  for (const Variation& variation : sweep.variations) names.push_back(variation.key);
  for (const char* name : {"converged", "steps_to_converge", "steps", "soft_loss", "hard_loss",
                           "hard_accuracy", "bit_accuracy", "seconds", "folder", "error"}) {
    names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> line_of(const SweepEntry& entry) {
  std::vector<std::string> fields = {fmt::format("{}", entry.run.experiment.seed)};
  fields.insert(fields.end(), entry.run.values.begin(), entry.run.values.end());
  if (const auto& result = entry.result) {
    fields.emplace_back(result->converged() ? "1" : "0");
    fields.push_back(result->converged() ? fmt::format("{}", *result->steps_to_converge) : "");
    fields.push_back(fmt::format("{}", result->steps));
    for (const double value : {result->soft_loss, result->hard_loss, result->hard_accuracy,
                               result->bit_accuracy, result->seconds}) {
      fields.push_back(fmt::format("{:.9g}", value));
    }
  } else {
    fields.resize(fields.size() + 8);
  }
  fields.push_back(entry.run.name);
  fields.push_back(printable(entry.error));
  return fields;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : ",") + csv_field(field);
  return line + "\n";
}

void write_table(const std::filesystem::path& path, const Sweep& sweep,
                 const std::vector<SweepEntry>& entries) {
  std::string text = csv_line(header_of(sweep));
  for (const SweepEntry& entry : entries) text += csv_line(line_of(entry));
  write_file("sweep", path, text);
}

/// Right end of all curves: a little after the last update of any run.
double end_of(const std::vector<SweepEntry>& entries) {
  constexpr double margin = 1.05;
  std::int64_t max_steps = 0;
  for (const SweepEntry& entry : entries) {
    if (entry.result) max_steps = std::max(max_steps, entry.result->steps);
  }
  return margin * static_cast<double>(max_steps);
}

/// A step function that rises where a run converges.
picture::Series share_series(const SweepVariant& variant, const std::string& name, double end) {
  picture::Series series{.name = name, .x = {0}, .y = {0}};
  double share = 0;
  for (const std::int64_t step : variant.steps_to_converge) {
    series.x.insert(series.x.end(), 2, static_cast<double>(step));
    series.y.push_back(share);
    share += 100 / static_cast<double>(variant.runs);
    series.y.push_back(share);
  }
  series.x.push_back(end);
  series.y.push_back(share);
  return series;
}

/// The final losses of a combination as dots: gaps keep the points from being joined.
picture::Series loss_series(const std::vector<SweepEntry>& entries, const SweepVariant& variant,
                            const std::string& name) {
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  picture::Series series{.name = name, .x = {}, .y = {}};
  for (const SweepEntry& entry : entries) {
    if (!entry.result || entry.run.values != variant.values) continue;
    series.x.insert(series.x.end(), {entry.result->soft_loss, gap});
    series.y.insert(series.y.end(), {entry.result->hard_loss, gap});
  }
  return series;
}

}  // namespace

std::optional<double> SweepVariant::median() const {
  if (steps_to_converge.empty()) return std::nullopt;
  const std::size_t half = steps_to_converge.size() / 2;
  const auto upper = static_cast<double>(steps_to_converge[half]);
  if (steps_to_converge.size() % 2 == 1) return upper;
  return (static_cast<double>(steps_to_converge[half - 1]) + upper) / 2;
}

std::vector<SweepVariant> variants_of(const std::vector<SweepEntry>& entries) {
  std::vector<SweepVariant> variants;
  for (const SweepEntry& entry : entries) {
    if (variants.empty() || variants.back().values != entry.run.values) {
      variants.push_back({.values = entry.run.values, .runs = 0, .steps_to_converge = {}});
    }
    SweepVariant& variant = variants.back();
    if (entry.result || !entry.error.empty()) ++variant.runs;
    if (entry.result && entry.result->converged()) {
      variant.steps_to_converge.push_back(*entry.result->steps_to_converge);
    }
  }
  for (SweepVariant& variant : variants) std::ranges::sort(variant.steps_to_converge);
  return variants;
}

std::string variant_text(const Sweep& sweep, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& key = sweep.variations[i].key;
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", key.substr(key.rfind('.') + 1),
                        printable(values[i]));
  }
  return text;
}

SweepFiles write_sweep_report(const std::filesystem::path& folder, const Sweep& sweep,
                              const std::vector<SweepEntry>& entries) {
  SweepFiles files{folder / sweep_table_file, folder / converged_file, folder / sweep_losses_file};
  write_table(files.table, sweep, entries);
  const std::string name = printable(sweep.experiment.name);
  picture::LinePlot converged{.title = fmt::format("{}: converged runs", name),
                              .x_label = "updates",
                              .y_label = "share of runs, %",
                              .series = {},
                              .y_includes = {0, 100}};
  picture::LinePlot losses{.title = fmt::format("{}: final losses", name),
                           .x_label = "soft loss",
                           .y_label = fmt::format("{}, hardened", hard_loss_name(sweep.experiment)),
                           .log_y = true,
                           .series = {},
                           .log_x = true};
  for (const SweepVariant& variant : variants_of(entries)) {
    if (variant.runs == 0) continue;
    const std::string text = variant_text(sweep, variant.values);
    converged.series.push_back(share_series(variant, text, end_of(entries)));
    losses.series.push_back(loss_series(entries, variant, text));
  }
  picture::save_line_plot(files.converged, converged);
  picture::save_line_plot(files.losses, losses);
  return files;
}

}  // namespace boolgrad::train
