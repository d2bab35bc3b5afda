#include "boolgrad/train/run/run.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/folder_lock.h"
#include "boolgrad/model/model.h"
#include "boolgrad/train/run/best_model.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run_folder.h"
#include "boolgrad/train/search/trainer.h"

namespace boolgrad::train {
namespace {

using Clock = std::chrono::steady_clock;

/// States up to this size are copied at every log line, as a fallback if a later step is not
/// finite. For larger ones only checkpoints are kept: a copy would take longer than many steps.
constexpr std::size_t max_copied_bytes = std::size_t{32} << 20;

}  // namespace

class Run::Steps {
 public:
  Steps(Trainer& trainer, RunOptions options)
      : experiment_(trainer.experiment()),
        options_(std::move(options)),
        trainer_(trainer),
        checkpoint_(options_.folder / checkpoint_file),
        copies_states_(3 * parameter_bytes() <= max_copied_bytes) {
    if (writes()) {
      make_run_folder(options_.folder);
      lock_.emplace("train", options_.folder);
    }
    start();
  }

  const std::optional<Ending>& ending() const { return ending_; }
  const LogEntry& last() const { return last_; }
  std::int64_t count() const { return trainer_.steps(); }

  void stop() {
    if (ending_) return;
    if (last_.step != trainer_.steps()) log();
    end(Ending::stopped);
  }

  RunReport finish() {
    if (!ending_) fail("train", "expected a run that has ended, received one with steps left");
    save();
    if (*ending_ != Ending::stopped) finalise();
    const bool saves_best = best_.entry() && (experiment_.is_classifier() || best_is_better());
    RunReport report{.ending = *ending_,
                     .last = last_,
                     .best = saves_best ? best_.entry() : std::nullopt,
                     .unsaturated = unsaturated_,
                     .checkpoint = checkpoint_,
                     .model = {}};
    if (report.ending != Ending::stopped) {
      report.model = options_.folder / model_file;
      if (writes()) {
        save_model(report.model, to_toml(experiment_),
                   saves_best ? best_.model()
                              : logic::without_candidates(trainer_.learner().model().to_file()));
      }
    }
    lock_.reset();
    return report;
  }

  void advance() {
    if (ending_) fail("train", "expected a run with steps left, received one that has ended");
    if (trainer_.knockout_due()) damage();
    const StepResult result = trainer_.step();
    if (!result.finite) give_up(trainer_.steps() + 1, result.loss);
    const bool stop = any_rank(trainer_.group(), options_.stop && options_.stop());
    const bool last = trainer_.steps() == training().steps;
    if (is_log_point() || stop || last) log();
    if (is_log_point() || last) end_if_solved();
    if (experiment_.is_classifier() && training().patience > 0 &&
        best_.lines_since() >= training().patience) {
      end(Ending::waited);
    }
    if (last) end(Ending::finished);
    if (stop) end(Ending::stopped);
    if (is_checkpoint_point() && !ending_) save();
    if (options_.watch) options_.watch(trainer_.steps(), last_);
  }

 private:
  const TrainingOptions& training() const { return experiment_.training; }
  /// All ranks of a group take the same steps; the first one writes the files.
  bool writes() const { return trainer_.group().is_first(); }

  double seconds() const {
    return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  void start() {
    const auto metrics_path = options_.folder / metrics_file;
    if (options_.resume) {
      if (writes()) remove_temporary_files(options_.folder);
      const Checkpoint saved = load_checkpoint(checkpoint_);
      trainer_.group().barrier();  // nobody still reads what is written next
      check_resumable(saved.experiment, experiment_, checkpoint_.string());
      trainer_.restore(saved.state, checkpoint_.string());
      if (writes()) write_settings(options_.folder, experiment_);  // the length may have changed
      best_.load(saved.state);
      seconds_before_ = saved.seconds;
      if (writes()) metrics_ = MetricsLog::resume(metrics_path, trainer_.steps());
      observe();
    } else {
      if (writes()) {
        claim_run_folder(options_.folder, experiment_, options_.overwrite);
        metrics_ = MetricsLog::create(metrics_path);
      }
      log();
    }
    // An uninterrupted run stops at log points only.
    if (is_log_point()) end_if_solved();
    if (trainer_.steps() >= training().steps) end(Ending::finished);
  }

  /// The first reason counts.
  void end(Ending ending) {
    if (!ending_) ending_ = ending;
  }

  void end_if_solved() {
    const bool damage_to_come = trainer_.steps() <= experiment_.knockout_step();
    if (training().stop_when_solved && !damage_to_come && last_.evaluation.solved()) {
      end(Ending::solved);
    }
  }

  bool is_checkpoint_point() const {
    return training().checkpoint_every > 0 && trainer_.steps() % training().checkpoint_every == 0;
  }

  // Checkpoints are log points, so that a state is evaluated before it is saved.
  bool is_log_point() const {
    return trainer_.steps() % training().log_every == 0 || is_checkpoint_point() ||
           is_diagnosis_point() || is_local_search_point();
  }

  // A model that a local search has solved must be evaluated before the next step.
  bool is_local_search_point() const {
    const SearchOptions& search = experiment_.search;
    return search.local_search > 0 && trainer_.steps() % search.local_search_every == 0;
  }

  bool is_diagnosis_point() const {
    return training().diagnose_every > 0 && trainer_.steps() % training().diagnose_every == 0;
  }

  /// Logs one line before the knockout and one after it.
  void damage() {
    if (last_.step != trainer_.steps()) log();
    const std::int64_t before = trainer_.learner().model().masked_count();
    trainer_.take_knockout();
    best_ = BestModel(best_kind(experiment_));
    observe();
    last_.knocked_out = last_.masked - before;
    if (metrics_) metrics_->write(last_);
  }

  void log() {
    observe();
    if (is_diagnosis_point())
      last_.layers = diagnose(trainer_.learner(), trainer_.leader_updates());
    if (metrics_) metrics_->write(last_);
    last_.layers.clear();
    best_.consider(last_, trainer_);
    if (copies_states_) best_.save(good_.state);
  }

  /// Evaluates the model. Keeps its state if the loss is finite.
  void observe() {
    last_ = {
        .step = trainer_.steps(),
        .evaluation = trainer_.evaluate(),
        .learning_rate = trainer_.learning_rate(),
        .seconds = seconds(),
        .masked = experiment_.knockout_step() < 0 ? 0 : trainer_.learner().model().masked_count()};
    if (!std::isfinite(last_.evaluation.soft_loss)) {
      give_up(trainer_.steps(), last_.evaluation.soft_loss);
    }
    if (copies_states_) keep_state();
  }

  /// Keeps the present state. Its loss must be finite; a parameter or a moment that is not ends the
  /// run.
  void keep_state() {
    TensorFile state = trainer_.state();
    if (const std::optional<std::string> name = first_not_finite(state)) {
      fail("train", "step {}: tensor '{}' is not finite{}", trainer_.steps(), *name, kept_text());
    }
    good_ = {.experiment = experiment_, .state = std::move(state), .seconds = last_.seconds};
    best_.save(good_.state);
    good_step_ = trainer_.steps();
  }

  std::size_t parameter_bytes() const {
    std::size_t bytes = 0;
    for (const Tensor& one : trainer_.learner().model().parameters()) bytes += one.bytes();
    return bytes * static_cast<std::size_t>(trainer_.members());
  }

  /// Prepares the final model, after the checkpoint was saved: the best one, saturated if it
  /// is a classifier or solved.
  void finalise() {
    if (experiment_.search.keep_best && !last_.evaluation.solved()) {
      trainer_.take_best();
      last_.evaluation = trainer_.evaluate();
    }
    if (!experiment_.hardening.saturate) return;
    if (experiment_.is_classifier() && best_.entry()) {
      unsaturated_ = best_.entry()->evaluation;
      trainer_.take(best_.model());
      trainer_.saturate();
      const Evaluation evaluation = trainer_.evaluate();
      best_.replace(evaluation, logic::without_candidates(trainer_.learner().model().to_file()));
    } else if (last_.evaluation.solved()) {
      unsaturated_ = last_.evaluation;
      trainer_.saturate();
      last_.evaluation = trainer_.evaluate();
    }
  }

  /// Whether an earlier logged model has fewer errors than the last one.
  bool best_is_better() const {
    return best_.entry()->evaluation.hard_loss < last_.evaluation.hard_loss;
  }

  void save() {
    if (last_.step != trainer_.steps()) observe();
    if (good_step_ != trainer_.steps()) keep_state();
    if (writes()) save_checkpoint(checkpoint_, good_);
    if (!copies_states_) good_.state = {};  // the file has it
  }

  /// Saves the last kept state, and says so; empty if there is none.
  std::string kept_text() {
    if (good_step_ < 0) return "";
    if (copies_states_ && writes()) save_checkpoint(checkpoint_, good_);
    return fmt::format("; the state after step {} was saved to {}", good_step_,
                       checkpoint_.string());
  }

  [[noreturn]] void give_up(std::int64_t step, double loss) {
    const std::string kept = kept_text();
    if (std::isfinite(loss)) {
      fail("train", "step {}: gradients are not finite{}", step, kept);
    }
    // Without the sign of a NaN, which has no meaning.
    fail("train", "step {}: the loss is {}{}", step,
         std::isnan(loss) ? "nan" : fmt::format("{}", loss), kept);
  }

  const Experiment& experiment_;
  RunOptions options_;
  Trainer& trainer_;
  std::optional<FolderLock> lock_;  ///< until the run is finished
  std::filesystem::path checkpoint_;
  bool copies_states_;
  std::optional<MetricsLog> metrics_;  ///< of the rank that writes
  LogEntry last_;
  Checkpoint good_;  ///< the last kept state
  std::int64_t good_step_ = -1;
  std::optional<Ending> ending_;
  BestModel best_{best_kind(experiment_)};
  std::optional<Evaluation> unsaturated_;
  Clock::time_point start_ = Clock::now();
  double seconds_before_ = 0;
};

Run::Run(Trainer& trainer, RunOptions options)
    : steps_(std::make_unique<Steps>(trainer, std::move(options))) {}
Run::~Run() = default;

std::optional<Ending> Run::ending() const { return steps_->ending(); }
void Run::advance() { steps_->advance(); }
void Run::stop() { steps_->stop(); }
RunReport Run::finish() { return steps_->finish(); }
std::int64_t Run::steps() const { return steps_->count(); }
const LogEntry& Run::last() const { return steps_->last(); }

RunReport run_training(Trainer& trainer, const RunOptions& options) {
  Run run(trainer, options);
  while (!run.ending()) run.advance();
  return run.finish();
}

RunReport run_experiment(const Experiment& experiment, const RunOptions& options,
                         const Device& device) {
  Trainer trainer(experiment, device);
  return run_training(trainer, options);
}

}  // namespace boolgrad::train
