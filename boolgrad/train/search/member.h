// One of the models that a run trains in parallel: its initialisation, its learner and its best
// state so far.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad::train {

/// Copies everything in `part` into `file`, with `prefix` before each name, and back.
void add_prefixed(TensorFile& file, const TensorFile& part, std::string_view prefix);
TensorFile prefixed_part(const TensorFile& file, std::string_view prefix);

/// The seed of an initialisation of a run: the run's own for restart 0, derived from it for others.
std::int64_t seed_of_restart(std::int64_t seed, std::int64_t restart);

class Member {
 public:
  /// Starts from initialisation `restart` of `experiment`, on `device`.
  Member(const Experiment& experiment, std::int64_t restart, const Device& device, Group& group);
  Member(Member&&) = delete;

  /// One step.
  StepResult step();

  /// The learning rate of the last step, or of the first if none was taken.
  double learning_rate() const;

  /// Evaluates the model. The result is cached until the next step.
  const Evaluation& evaluate();

  void take_knockout();

  /// The learner, with its model up to date.
  Learner& learner() const;

  /// Steps since its initialisation.
  std::int64_t updates() const { return updates_; }

  /// Records the quality of the model after `steps` steps and restarts if it is stuck. A fresh
  /// restart uses initialisation `next_restart`.
  void record(std::int64_t steps, std::int64_t next_restart);

  /// Local search on the best model recorded since the last local search, if its bit error rate is
  /// low enough. The result replaces the present model if no error is left. In three parts: only
  /// the second one, which takes the time, does not use the device.
  void begin_local_search();
  void run_local_search();
  void end_local_search();

  /// Saturates the logits, so that the soft model equals the hardened one.
  void saturate();

  /// Replaces the present model, with zero moments.
  void take(const TensorFile& model);
  /// The same with the best recorded one, if that is better.
  void take_best();

  /// Model, moments, hardening and records, as copies, and back. `restore` throws for another
  /// architecture. Error messages start with `source`.
  TensorFile state() const;
  void restore(const TensorFile& state, std::int64_t steps, const std::string& source);

 private:
  void initialise(std::int64_t restart);
  bool keeps_best() const;
  void record_candidate();

  Experiment experiment_;  ///< with the seed of the restart
  std::int64_t run_seed_;
  Device device_;
  Group& group_;
  std::int64_t restart_ = 0;
  std::unique_ptr<Learner> learner_;
  std::int64_t updates_ = 0;  ///< since the restart; the step count of the moments
  std::optional<Evaluation> evaluation_;

  // Losses and error rates are -1 if nothing was recorded.
  double restart_loss_ = -1;     ///< lowest hard loss since the last restart
  std::int64_t restart_at_ = 0;  ///< step of the run at which it was recorded
  double best_loss_ = -1;        ///< hard loss of the best model
  TensorFile best_;
  double candidate_error_ = -1;  ///< lowest bit error rate since the last local search
  TensorFile candidate_;

  /// The state to go back to if a local search fails.
  struct LocalSearchState {
    AdamWState moments;
    TensorFile before;
    double errors = 0;  ///< bit errors that are left
  };
  std::optional<LocalSearchState> local_search_;
};

}  // namespace boolgrad::train
