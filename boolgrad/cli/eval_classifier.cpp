// `boolgrad eval` for classifiers: soft and hard accuracy on the test samples, confusion matrix,
// size and speed of the circuit.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/cli/classifier.h"
#include "boolgrad/cli/eval.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/prediction.h"
#include "boolgrad/model/samples.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/picture/plot.h"

namespace boolgrad::cli {
namespace {

constexpr const char* where = "eval";

using Confusion = std::vector<std::vector<std::int64_t>>;

/// Predictions of the bit-parallel circuit, and its speed on one core from features to classes.
struct BitRun {
  std::vector<double> predicted;
  double samples_per_second = 0;
};

BitRun run_as_bits(const LoadedModel& loaded, const circuit::Netlist& netlist,
                   const Tensor& samples) {
  const HardClassifier classifier(*loaded.model.classifier(), netlist);
  const auto count = static_cast<std::size_t>(samples.shape()[0]);
  const std::int64_t groups = loaded.model.classifier()->head.groups();
  std::vector<std::int32_t> sums(count * static_cast<std::size_t>(groups));
  const auto run = [&] { classifier.group_sums(samples, sums); };
  const int threads = thread_count();
  set_thread_count(1);
  run();
  using Clock = std::chrono::steady_clock;
  double min_seconds = 1e300;
  double spent = 0;
  for (int i = 0; i < 20 && (i < 3 || spent < 1); ++i) {
    const auto start = Clock::now();
    run();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    min_seconds = std::min(min_seconds, seconds);
    spent += seconds;
  }
  set_thread_count(threads);
  return {classifier.predict(samples), static_cast<double>(count) / min_seconds};
}

void print_confusion(const Confusion& counts, const std::vector<std::string>& names) {
  constexpr std::size_t max_printed = 20;
  if (counts.size() > max_printed) return;
  std::size_t width = 6;
  for (const std::string& name : names)
    width = std::max(width, std::min<std::size_t>(12, name.size()));
  const auto label = [&](std::size_t i) {
    return std::string(utf8_prefix(printable(names[i]), width));
  };
  fmt::print("  confusion matrix, actual / predicted\n");
  fmt::print("  {:>{}}", "", width);
  for (std::size_t c = 0; c < counts.size(); ++c) fmt::print(" {:>{}}", label(c), width);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    fmt::print("\n  {:>{}}", label(r), width);
    for (const std::int64_t count : counts[r]) fmt::print(" {:>{}}", count, width);
  }
  fmt::print("\n");
}

std::string confusion_path(const EvalArguments& arguments) {
  if (!arguments.confusion.empty()) return arguments.confusion;
  return (std::filesystem::path(arguments.model).parent_path() / "confusion.png").string();
}

void draw_confusion(const std::string& path, const Confusion& counts, const LoadedModel& loaded) {
  picture::MatrixChart chart{.title = printable(loaded.spec->name) + ", hardened, test samples",
                             .row_label = "actual",
                             .column_label = "predicted",
                             .labels = {},
                             .values = {}};
  for (const std::string& name : loaded.model.classifier()->format.classes) {
    chart.labels.push_back(printable(name));
  }
  for (const auto& row : counts) chart.values.emplace_back(row.begin(), row.end());
  picture::save_matrix_chart(path, chart);
}

std::int64_t differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

struct Report {
  Evaluation evaluation;
  std::int64_t samples = 0;
  std::int64_t gates = 0;
  std::optional<std::int64_t> simplified_gates;
  BitRun bits;
  std::optional<Evaluation> compiled;
  std::int64_t simulated = 0;  ///< number of samples on which simulated Verilog agreed
  Confusion confusion;
  std::string picture;
};

void print_report(const EvalArguments& arguments, const LoadedModel& loaded, const Report& report) {
  const bool has_classes = loaded.model.classifier()->head.kind != HeadKind::regression;
  const std::string_view what = accuracy_name(loaded.model.classifier()->head.kind);
  fmt::print("{} on {} test samples of {}\n", printable(arguments.model), report.samples,
             printable(loaded.spec->name));
  fmt::print("  soft {} {:.2f} %, loss {:.6g}\n", what, 100 * report.evaluation.soft_accuracy,
             report.evaluation.soft_loss);
  fmt::print("  hard {} {:.2f} %, confirmed by the bit-parallel circuit\n", what,
             100 * report.evaluation.hard_accuracy);
  if (report.compiled) {
    fmt::print("  hard {} {:.2f} % with the exported C, compiled\n", what,
               100 * report.compiled->hard_accuracy);
  }
  if (report.simulated > 0) {
    fmt::print("  simulation of the exported Verilog agrees on {} samples\n", report.simulated);
  }
  fmt::print(
      "  {} gates{}\n", report.gates,
      report.simplified_gates ? fmt::format(", {} simplified", *report.simplified_gates) : "");
  fmt::print("  {:.3g} million samples per second on one core, from features to sums\n",
             report.bits.samples_per_second / 1e6);
  if (!has_classes) return;
  print_confusion(report.confusion, loaded.model.classifier()->format.classes);
  if (!report.picture.empty()) fmt::print("  picture {}\n", printable(report.picture));
}

nlohmann::json to_json(const LoadedModel& loaded, const Report& report) {
  nlohmann::json object = {{"experiment", loaded.spec->name},
                           {"metric", accuracy_name(loaded.model.classifier()->head.kind)},
                           {"samples", report.samples},
                           {"soft_loss", report.evaluation.soft_loss},
                           {"soft_accuracy", report.evaluation.soft_accuracy},
                           {"hard_loss", report.evaluation.hard_loss},
                           {"hard_accuracy", report.evaluation.hard_accuracy},
                           {"gates", report.gates},
                           {"samples_per_second", report.bits.samples_per_second}};
  if (report.simplified_gates) object["gates_simplified"] = *report.simplified_gates;
  if (report.compiled) object["hard_accuracy_compiled"] = report.compiled->hard_accuracy;
  if (report.simulated > 0) object["samples_simulated"] = report.simulated;
  if (!report.confusion.empty()) object["confusion"] = report.confusion;
  if (!report.picture.empty()) object["picture"] = report.picture;
  return object;
}

void expect_same(const std::vector<double>& received, const std::vector<double>& wanted,
                 std::string_view what) {
  const std::int64_t different = differences(received, wanted);
  if (different > 0) {
    fail(where, "{} differs from the network in {} of {} predictions", what, different,
         wanted.size());
  }
}

/// Simulates the Verilog of a netlist on some samples and compares the predictions. Returns the
/// number of samples.
std::int64_t simulate(const circuit::Netlist& netlist, const LoadedModel& loaded,
                      const Tensor& samples, const std::vector<double>& predicted) {
  constexpr std::int64_t max_simulated = 1000;
  const std::int64_t count = std::min(max_simulated, samples.shape()[0]);
  expect_same(run_simulated(where, netlist, ports_of(loaded), slice(samples, 0, 0, count)),
              {predicted.begin(), predicted.begin() + count}, "the exported Verilog");
  return count;
}

}  // namespace

void eval_classifier(const EvalArguments& arguments, const LoadedModel& loaded,
                     const CommonOptions& common) {
  const Classifier& classifier = *loaded.model.classifier();
  const data::SampleSet samples = load_test_samples(*loaded.spec, classifier, arguments.data);
  const Predictions predicted = predict(loaded.model, samples, arguments.device);
  Report report;
  report.samples = samples.count();
  report.evaluation = evaluation_of(predicted, classifier.head, samples.labels);
  circuit::Netlist netlist = circuit::harden(loaded.model.network());
  netlist.name = loaded.spec->name;
  report.gates = circuit::gate_count(netlist);
  report.bits = run_as_bits(loaded, netlist, samples.features);
  expect_same(report.bits.predicted, predicted.hard, "the bit-parallel circuit");
  if (arguments.simplifies) {
    netlist = circuit::simplify(netlist);
    report.simplified_gates = circuit::gate_count(netlist);
  }
  if (arguments.compiled) {
    const Predictions from_c{
        .soft = predicted.soft,
        .hard = run_compiled(where, netlist, ports_of(loaded), samples.features),
        .soft_loss = predicted.soft_loss};
    expect_same(from_c.hard, predicted.hard, "the exported C");
    report.compiled = evaluation_of(from_c, classifier.head, samples.labels);
  }
  if (arguments.simulated) {
    report.simulated = simulate(netlist, loaded, samples.features, predicted.hard);
  }
  if (classifier.head.kind != HeadKind::regression) {
    report.confusion = confusion(predicted.hard, samples.labels, classifier.head.classes);
    constexpr std::size_t max_drawn = 64;
    if (report.confusion.size() <= max_drawn) {
      report.picture = confusion_path(arguments);
      draw_confusion(report.picture, report.confusion, loaded);
    }
  }
  if (!common.quiet) print_report(arguments, loaded, report);
  if (common.json) print_json(to_json(loaded, report));
}

}  // namespace boolgrad::cli
