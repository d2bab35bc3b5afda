#include "boolgrad/cli/train_view.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/cli/automaton.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/state_image.h"
#include "boolgrad/model/tasks.h"
#include "boolgrad/train/learners/network_learner.h"

namespace boolgrad::cli {
namespace {

std::string percent(double share) {
  // Rounded down: 100 % is said only when nothing is missing.
  return fmt::format("{:.1f}%", static_cast<double>(static_cast<std::int64_t>(share * 1000)) / 10);
}

std::string ending_text(const RunReport& report) {
  switch (report.ending) {
    case Ending::solved: return "solved";
    case Ending::finished:
      if (report.best) return "done";
      return report.last.evaluation.solved() ? "solved" : "not solved";
    case Ending::stopped: return "stopped";
    case Ending::waited: return "no better model for a while,";
  }
  return "";
}

/// What accuracy is a share of.
std::string cases_text(const Experiment& experiment) {
  if (!experiment.is_automaton()) return "cases";
  const AutomatonTask task = make_automaton_task(experiment);
  if (task.starts.defined()) return fmt::format("{} starts", task.starts.shape()[1]);
  const std::int64_t count = probe_count(experiment.automaton);
  return count == 1 ? "1 start" : fmt::format("{} fresh starts", count);
}

/// Whether the states that are evaluated are worth a picture: those of life are all grids of 3 by
/// 3 cells there are, the first of them empty.
bool has_picture(const Experiment& experiment) {
  return experiment.is_automaton() && experiment.task.kind != TaskKind::life;
}

void print_best(const LogEntry& best, const Experiment& experiment) {
  const auto samples = training_samples_of(experiment);
  const std::int64_t validation = samples->validation.count();
  fmt::print("  best model     of step {}, on {} samples {}\n", best.step,
             validation > 0 ? validation : samples->train.count(),
             validation > 0 ? "kept for validation" : "it learned from");
  fmt::print("  soft loss      {:.6g}\n", best.evaluation.soft_loss);
  fmt::print("  soft accuracy  {:.2f} %\n", 100 * best.evaluation.soft_accuracy);
  fmt::print("  hard accuracy  {:.2f} %\n", 100 * best.evaluation.hard_accuracy);
}

void print_losses(const Experiment& experiment, const Evaluation& evaluation) {
  fmt::print("  soft loss      {:.6g}\n", evaluation.soft_loss);
  fmt::print("  hard loss      {:.0f} wrong bits\n", evaluation.hard_loss);
  fmt::print("  hard accuracy  {} of {}, {} of bits\n", percent(evaluation.hard_accuracy),
             cases_text(experiment), percent(evaluation.bit_accuracy));
}

void print_files(const RunReport& report, const Plots& plots) {
  if (report.last.masked > 0) fmt::print("  switched off   {}\n", report.last.masked);
  if (report.ending == Ending::stopped) {
    const std::string folder = report.checkpoint.parent_path().string();
    fmt::print("  checkpoint     {}\n  to go on       boolgrad train --resume {}\n",
               report.checkpoint.string(), folder);
  } else {
    fmt::print("  model          {}\n", report.model.string());
  }
  fmt::print("  plots          {}, {}\n", plots.losses.string(), plots.gates.filename().string());
}

}  // namespace

void print_target(const Experiment& experiment) {
  const AutomatonTask task = make_automaton_task(experiment);
  const Image cells =
      pattern_image(task.target.viewed_as({task.channels(), task.height(), task.width()}));
  Animation drawing(stdout);
  drawing.finish(drawing.live() ? for_terminal(cells) : cells, "");
  fmt::print("target  {}, {}x{} cells in {}\n", printable(experiment.task.file), task.height(),
             task.width(), task.channels() == 1 ? "black and white" : "eight colours");
}

void print_memory(const Experiment& experiment, const Rule& rule) {
  const auto [chosen, size] = training_memory(experiment, rule);
  const auto needed = [&, sizes = size](const Memory& memory) {
    return bytes_text(memory_needed(rule, sizes, memory));
  };
  std::vector<std::string> others;
  for (const Memory& other : memory_choices(rule, size)) {
    if (other.policy == chosen.policy) continue;
    others.push_back(fmt::format("{} {}", describe(other), needed(other)));
  }
  fmt::print("memory  {}, {} ({})\n", describe(chosen), needed(chosen), fmt::join(others, ", "));
}

TrainView::TrainView(const Experiment& experiment, bool quiet)
    : experiment_(experiment), quiet_(quiet), steps_per_epoch_(steps_per_epoch(experiment)) {
  if (quiet || !has_picture(experiment)) return;
  animation_.emplace(stderr);
  if (!animation_->live()) animation_.reset();
}

void print_samples(const Experiment& experiment, const Model& model) {
  const auto samples = training_samples_of(experiment);
  const Classifier& classifier = *model.classifier();
  fmt::print("samples {} to learn from, {}\n", samples->train.count(),
             samples->validation.count() > 0
                 ? fmt::format("{} others to evaluate on", samples->validation.count())
                 : std::string("evaluated on the same"));
  std::int64_t gates = 0;
  for (const LogicLayer& layer : model.network().layers()) gates += layer.wiring->gates();
  fmt::print("network {} bits of {} features, {} gates, {}\n", classifier.thresholds.bits(),
             classifier.thresholds.features(), gates,
             classifier.head.kind == HeadKind::regression
                 ? std::string("a value")
                 : fmt::format("{} classes", classifier.head.classes));
}

std::string TrainView::status(std::int64_t steps, const LogEntry& last) const {
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

void TrainView::watch(std::int64_t steps, const LogEntry& last) {
  const std::int64_t total = experiment_.training.steps;
  if (!progress_) progress_.emplace(stderr, quiet_, "steps", total, steps);
  if (!progress_->due() && steps != total) return;
  if (animation_) {
    animation_->show(for_terminal(soft_state_image(last.evaluation.picture)),
                     progress_->line(steps, status(steps, last)));
  } else {
    progress_->show(steps, status(steps, last));
  }
}

void TrainView::finish(const LogEntry& last) {
  progress_.reset();
  if (!animation_) return;
  animation_->finish(for_terminal(soft_state_image(last.evaluation.picture)),
                     status(last.step, last));
}

void print_summary(const Experiment& experiment, const RunReport& report, const Plots& plots) {
  const Evaluation& evaluation = report.last.evaluation;
  fmt::print("{} (seed {}): {} after {} steps, {:.1f} s\n", printable(experiment.name),
             experiment.seed, ending_text(report), report.last.step, report.last.seconds);
  if (report.best) print_best(*report.best, experiment);
  else print_losses(experiment, evaluation);
  print_files(report, plots);
}

nlohmann::json train_json(const Experiment& experiment, const RunReport& report,
                          const Plots& plots) {
  const Evaluation& evaluation = report.best ? report.best->evaluation : report.last.evaluation;
  const bool stopped = report.ending == Ending::stopped;
  return {{"experiment", experiment.name},
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
}

}  // namespace boolgrad::cli
