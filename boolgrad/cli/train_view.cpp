#include "boolgrad/cli/train_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/cli/animation.h"
#include "boolgrad/core/memory.h"
#include "boolgrad/core/text.h"
#include "boolgrad/core/tty.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/state_image.h"
#include "boolgrad/model/tasks.h"
#include "boolgrad/train/experiment/memory_estimate.h"
#include "boolgrad/train/learners/network_learner.h"

namespace boolgrad::cli {
namespace {

std::string percent(double share) {
  // Rounded down, so that 100 % means no error.
  return fmt::format("{:.1f}%", static_cast<double>(static_cast<std::int64_t>(share * 1000)) / 10);
}

std::string ending_text(const train::Experiment& experiment, const train::RunReport& report) {
  switch (report.ending) {
    case train::Ending::solved: return "solved";
    case train::Ending::finished:
      if (report.best && experiment.is_classifier()) return "done";
      return report.last.evaluation.solved() ? "solved" : "not solved";
    case train::Ending::stopped: return "stopped";
    case train::Ending::waited: return "stopped early";
  }
  return "";
}

/// What the accuracy is a share of.
std::string cases_text(const train::Experiment& experiment) {
  if (!experiment.is_automaton()) return "cases";
  const data::AutomatonTask task = make_automaton_task(experiment);
  const std::int64_t count =
      task.starts.defined() ? task.starts.shape()[1] : evaluation_start_count(experiment.automaton);
  if (experiment.task.kind == data::TaskKind::rule) return fmt::format("{} tori", count);
  return count == 1 ? "1 evaluation start" : fmt::format("{} evaluation starts", count);
}

/// Whether evaluated states are worth showing. Those of rules are grids of 3 by 3 cells.
bool has_picture(const train::Experiment& experiment) {
  return experiment.is_automaton() && !experiment.learns_rule();
}

/// What the accuracies of a classifier were measured on: `48 validation samples`.
std::string measured_text(const train::Experiment& experiment) {
  const auto samples = train::training_samples_of(experiment);
  const std::int64_t validation = samples->validation.count();
  return fmt::format("{} {} samples", validation > 0 ? validation : samples->train.count(),
                     validation > 0 ? "validation" : "training");
}

void print_best(const train::LogEntry& best, const train::Experiment& experiment,
                const std::optional<train::TestResult>& test) {
  const std::string name(accuracy_name(experiment.head.kind));
  const auto label = [&](std::string_view what) { return fmt::format("{} {}", what, name); };
  const std::size_t width = std::max<std::size_t>(13, label("soft").size());
  fmt::print("  {:<{}}  step {}, evaluated on {}\n", "best model", width, best.step,
             measured_text(experiment));
  fmt::print("  {:<{}}  {:.6g}\n", "soft loss", width, best.evaluation.soft_loss);
  fmt::print("  {:<{}}  {:.2f} %\n", label("soft"), width, 100 * best.evaluation.soft_accuracy);
  fmt::print("  {:<{}}  {:.2f} %\n", label("hard"), width, 100 * best.evaluation.hard_accuracy);
  if (!test) return;
  fmt::print("  {:<{}}  {:.2f} % of {} test samples\n", label("test"), width,
             100 * test->evaluation.hard_accuracy, test->samples);
}

void print_losses(const train::Experiment& experiment, const train::RunReport& report) {
  const Evaluation& evaluation = report.best ? report.best->evaluation : report.last.evaluation;
  if (report.best) {
    fmt::print("  best model     step {}; {:.0f} bit errors at the last step\n", report.best->step,
               report.last.evaluation.hard_loss);
  }
  fmt::print("  soft loss      {:.6g}{}\n", evaluation.soft_loss,
             report.unsaturated ? fmt::format(", {:.6g} before the logits were saturated",
                                              report.unsaturated->soft_loss)
                                : "");
  fmt::print("  hard loss      {:.0f} bit errors\n", evaluation.hard_loss);
  fmt::print("  hard accuracy  {} of {}, {} of bits\n", percent(evaluation.hard_accuracy),
             cases_text(experiment), percent(evaluation.bit_accuracy));
}

void print_files(const train::RunReport& report, const train::Plots& plots) {
  if (report.last.masked > 0) fmt::print("  masked         {}\n", report.last.masked);
  if (report.ending == train::Ending::stopped) {
    const std::string folder = report.checkpoint.parent_path().string();
    fmt::print("  checkpoint     {}\n  to continue    boolgrad train --resume {}\n",
               report.checkpoint.string(), folder);
  } else {
    fmt::print("  model          {}\n", report.model.string());
  }
  fmt::print("  plots          {}, {}\n", plots.losses.string(), plots.gates.filename().string());
}

}  // namespace

void print_target(const train::Experiment& experiment) {
  const data::AutomatonTask task = make_automaton_task(experiment);
  const picture::Image cells =
      data::pattern_image(task.target.viewed_as({task.channels(), task.height(), task.width()}));
  picture::Animation drawing(stdout);
  drawing.finish(drawing.live() ? for_terminal(cells) : cells, "");
  fmt::print("target  {}, {}x{} cells in {}\n", printable(experiment.task.file), task.height(),
             task.width(), task.channels() == 1 ? "black and white" : "eight colours");
}

void print_memory(const train::Experiment& experiment, const automata::Rule& rule) {
  const auto [chosen, size] = train::training_memory(experiment, rule);
  const auto needed = [&, sizes = size](const Memory& memory) {
    return bytes_text(automata::memory_needed(rule, sizes, memory));
  };
  std::vector<std::string> others;
  for (const Memory& other : automata::memory_choices(rule, size)) {
    if (other.policy == chosen.policy) continue;
    others.push_back(fmt::format("{} {}", automata::describe(other), needed(other)));
  }
  fmt::print("memory  {}, {} ({})\n", automata::describe(chosen), needed(chosen),
             fmt::join(others, ", "));
}

void print_needed_memory(const train::Experiment& experiment) {
  constexpr std::size_t large_part = 10;
  const std::optional<std::size_t> available = available_memory();
  const std::size_t needed = train::least_memory(experiment);
  if (!available || needed < *available / large_part) return;
  fmt::print("memory  at least {} needed, {} free\n", bytes_text(needed), bytes_text(*available));
}

TrainView::TrainView(const train::Experiment& experiment, bool quiet)
    : experiment_(experiment), quiet_(quiet), steps_per_epoch_(train::steps_per_epoch(experiment)) {
  if (quiet || !has_picture(experiment)) return;
  animation_.emplace(stderr);
  if (!animation_->live()) animation_.reset();
}

namespace {

/// Number and memory of the candidates of learned wires.
void print_candidates(const logic::Network& network) {
  // Logit, two moments and gradient; source and entry in the list of uses.
  constexpr std::int64_t bytes_of_logit = 16;
  constexpr std::int64_t bytes_of_source = 8;
  std::int64_t candidates = 0;
  std::int64_t bytes = 0;
  for (const logic::GateLayer& layer : network.layers()) {
    if (!layer.learns_wires()) continue;
    const std::int64_t own = layer.candidates->slots() * layer.candidates->count();
    candidates += own;
    bytes += own * (bytes_of_logit + (layer.candidates->has_all() ? 0 : bytes_of_source));
  }
  if (candidates == 0) return;
  fmt::print("wires {} candidates, {}\n", candidates,
             bytes_text(static_cast<std::uint64_t>(bytes)));
}

}  // namespace

void show_loading(const train::Experiment& experiment) {
  if (!is_terminal(stderr)) return;
  fmt::print(stderr, "loading {}\r",
             printable(experiment.data.path.empty() ? experiment.name : experiment.data.path));
  std::fflush(stderr);
}

void print_samples(const train::Experiment& experiment, const Model& model,
                   double loading_seconds) {
  const auto samples = train::training_samples_of(experiment);
  const Classifier& classifier = *model.classifier();
  if (is_terminal(stderr)) fmt::print(stderr, "\x1b[K");  // what `show_loading` wrote
  std::string parts =
      fmt::format("{} for training, {}", samples->train.count(),
                  samples->validation.count() > 0
                      ? fmt::format("{} for validation", samples->validation.count())
                      : std::string("evaluated on the same"));
  const std::int64_t test =
      samples->file_rows - samples->train.count() - samples->validation.count();
  if (experiment.data.test > 0 && experiment.data.limit == 0 && test > 0) {
    parts += fmt::format(", {} for the test", test);
  }
  if (samples->dropped > 0) {
    parts += fmt::format(", {} lines with missing values left out", samples->dropped);
  }
  fmt::print("samples {}, loaded in {:.1f} s\n", parts, loading_seconds);
  std::int64_t gates = 0;
  for (const logic::GateLayer& layer : model.network().layers()) gates += layer.wiring->gates();
  fmt::print("network {} features, {} input bits, {} gates, {}\n", classifier.thresholds.features(),
             classifier.thresholds.bits(), gates,
             classifier.head.kind == HeadKind::regression
                 ? std::string("regression")
                 : fmt::format("{} classes", classifier.head.classes));
  print_candidates(model.network());
}

std::string TrainView::status(std::int64_t steps, const train::LogEntry& last) const {
  const std::int64_t total = experiment_.training.steps;
  std::string text;
  if (!experiment_.is_automaton()) {
    text = fmt::format("epoch {}/{} ", steps / steps_per_epoch_, total / steps_per_epoch_);
  }
  if (experiment_.is_automaton() || steps_per_epoch_ > 1) {
    text += fmt::format("step {}/{} ", steps, total);
  }
  if (experiment_.is_classifier()) {
    return text + fmt::format("loss {:.3g} accuracy soft {} hard {}", last.evaluation.soft_loss,
                              percent(last.evaluation.soft_accuracy),
                              percent(last.evaluation.hard_accuracy));
  }
  return text + fmt::format("soft {:.2g} hard {:.0f} accuracy {}", last.evaluation.soft_loss,
                            last.evaluation.hard_loss, percent(last.evaluation.hard_accuracy));
}

std::string TrainView::short_status(std::int64_t steps, const train::LogEntry& last) const {
  return fmt::format("{}/{} loss {:.2g} accuracy {}", steps, experiment_.training.steps,
                     last.evaluation.soft_loss, percent(last.evaluation.hard_accuracy));
}

void TrainView::watch(std::int64_t steps, const train::LogEntry& last) {
  const std::int64_t total = experiment_.training.steps;
  if (!progress_) progress_.emplace(stderr, quiet_, "steps", total, steps);
  if (!progress_->due() && steps != total) return;
  if (animation_) {
    animation_->show(for_terminal(soft_state_image(last.evaluation.picture)),
                     progress_->line(steps, status(steps, last)));
  } else {
    progress_->show(steps, status(steps, last), short_status(steps, last));
  }
}

void TrainView::finish(const train::LogEntry& last) {
  progress_.reset();
  if (!animation_) return;
  animation_->finish(for_terminal(soft_state_image(last.evaluation.picture)),
                     status(last.step, last));
}

void print_summary(const train::Experiment& experiment, const train::RunReport& report,
                   const train::Plots& plots, const std::optional<train::TestResult>& test) {
  fmt::print("{} (seed {}): {} after {} steps, {:.1f} s\n", printable(experiment.name),
             experiment.seed, ending_text(experiment, report), report.last.step,
             report.last.seconds);
  if (experiment.is_classifier()) print_best(*report.best, experiment, test);
  else print_losses(experiment, report);
  print_files(report, plots);
}

nlohmann::json train_json(const train::Experiment& experiment, const train::RunReport& report,
                          const train::Plots& plots, const std::optional<train::TestResult>& test,
                          double loading_seconds) {
  const Evaluation& evaluation = report.best ? report.best->evaluation : report.last.evaluation;
  const bool stopped = report.ending == train::Ending::stopped;
  nlohmann::json object = {
      {"experiment", experiment.name},
      {"seed", experiment.seed},
      {"steps", report.last.step},
      {"soft_loss", evaluation.soft_loss},
      {"soft_accuracy", evaluation.soft_accuracy},
      {"hard_loss", evaluation.hard_loss},
      {"hard_accuracy", evaluation.hard_accuracy},
      {"bit_accuracy", evaluation.bit_accuracy},
      {"seconds", report.last.seconds},
      {"stopped", stopped},
      {"model", (stopped ? report.checkpoint : report.model).string()},
      {"plots", {{"losses", plots.losses.string()}, {"gates", plots.gates.string()}}}};
  if (report.best) object["best_step"] = report.best->step;
  if (!experiment.is_classifier()) return object;
  const bool validated = train::training_samples_of(experiment)->validation.count() > 0;
  object["metric"] = accuracy_name(experiment.head.kind);
  object["measured_on"] = validated ? "validation" : "training";
  object["loading_seconds"] = loading_seconds;
  if (test) {
    object["test_samples"] = test->samples;
    object["test_accuracy"] = test->evaluation.hard_accuracy;
  }
  return object;
}

}  // namespace boolgrad::cli
