// One of the models that a run trains in parallel: a random initialisation, its learner, and the
// best it has been.
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

namespace boolgrad {

/// Puts all that `part` holds into `file`, under names that begin with `prefix`, and back.
void add_prefixed(TensorFile& file, const TensorFile& part, std::string_view prefix);
TensorFile prefixed_part(const TensorFile& file, std::string_view prefix);

/// The seed of draw `draw` of a run: its own for draw 0, others that follow from it beyond.
std::int64_t seed_of_draw(std::int64_t seed, std::int64_t draw);

class Member {
 public:
  /// Draw `draw` of `experiment`, trained on `device`.
  Member(const Experiment& experiment, std::int64_t draw, const Device& device);
  Member(Member&&) = delete;

  /// One step.
  StepResult step();

  /// The learning rate of the last step, or of the first where none was taken.
  double learning_rate() const;

  /// How good it is now. Computed once between steps.
  const Evaluation& evaluate();

  void take_knockout();

  /// What is trained, with the model as it is now.
  Learner& learner() const;

  /// Steps since its initialisation.
  std::int64_t updates() const { return updates_; }

  /// Takes note of how good it is after `steps` steps, and begins anew where it has been stuck for
  /// too long; `fresh_draw` is the draw that it then takes where it is to have another one.
  void look(std::int64_t steps, std::int64_t fresh_draw);

  /// Refits the best model that was looked at since the last refit, where few of its bits are
  /// wrong: tries the other way what it is least certain of when hardened. What comes out takes the
  /// place of the present model where no bit is wrong any more. In three parts, since only the
  /// second, which takes the time, stays away from the device.
  void begin_refit();
  void search_refit();
  void end_refit();

  /// Makes the soft model what the hardened one is.
  void seal();

  /// The best model that was looked at in place of the present one, where that is better, with
  /// moments of zero.
  void take_best();

  /// Model, moments, hardening and what was noted, in memory of its own, and back. Refuses that of
  /// another architecture; `source` opens the message.
  TensorFile state() const;
  void restore(const TensorFile& state, std::int64_t steps, const std::string& source);

 private:
  void make(std::int64_t draw);
  bool keeps_best() const;
  void note_promise();

  Experiment experiment_;  ///< with the seed of the draw
  std::int64_t run_seed_;
  Device device_;
  std::int64_t draw_ = 0;
  std::unique_ptr<Learner> learner_;
  std::int64_t updates_ = 0;  ///< since the draw, which is what the moments count
  std::optional<Evaluation> evaluation_;

  // Wrong bits are below 0 where no model was looked at.
  double draw_loss_ = -1;     ///< of the best model since it last began anew
  std::int64_t draw_at_ = 0;  ///< steps of the run when that was seen
  double best_loss_ = -1;     ///< of the best model that is kept
  TensorFile best_;
  double promise_error_ = -1;  ///< share of wrong bits of the best model since the last refit
  TensorFile promise_;

  /// What a refit that is under way goes back to.
  struct Refitting {
    AdamWState moments;
    TensorFile before;
    double wrong_bits = 0;  ///< that it left
  };
  std::optional<Refitting> refitting_;
};

}  // namespace boolgrad
