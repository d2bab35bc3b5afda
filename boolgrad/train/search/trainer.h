// The training loop's inside: one step at a time, in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "boolgrad/model/samples.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/learners/learner.h"
#include "boolgrad/train/search/member.h"

namespace boolgrad {

/// A run as a value: everything is a function of the experiment and the number of steps taken.
///
/// Where the experiment asks for several members, a step is one of each. The run is then reported
/// by its leader: the one whose hardened model has the fewest wrong bits, with ties broken by the
/// lowest soft loss.
class Trainer {
 public:
  /// Epochs of a classifier are counted in steps first.
  explicit Trainer(const Experiment& experiment, const Device& device = {});

  /// Takes the knockout, if it is due now, and then one step. The loss is that of the leader.
  StepResult step();

  /// Steps taken so far.
  std::int64_t steps() const { return steps_; }

  /// Whether the knockout comes before the next step.
  bool knockout_due() const { return steps() == experiment_.knockout_step(); }
  void take_knockout();

  /// The learning rate of the last step, or of the first where none was taken.
  double learning_rate() const { return leader().learning_rate(); }

  const Experiment& experiment() const { return experiment_; }
  /// What is trained, as it is now: the leader's, as `evaluate` found it last.
  Learner& learner() const { return leader().learner(); }
  std::int64_t members() const { return static_cast<std::int64_t>(members_.size()); }

  /// How good the best member is now, which leads from here on.
  Evaluation evaluate();

  /// Steps that the leader has taken since its initialisation.
  std::int64_t leader_updates() const { return leader().updates(); }

  /// The best model seen in place of the present one, where the experiment keeps it: for the end
  /// of a run.
  void take_best();

  /// Makes the leader's soft model what its hardened one is: for the end of a run.
  void seal() { leader().seal(); }

  /// Models, moments and the number of steps, in memory of their own. The leader's is a model that
  /// can be read by itself.
  TensorFile state() const;

  /// Continues from a state. Refuses that of another architecture; `source` opens the message.
  void restore(const TensorFile& state, const std::string& source);

 private:
  using Members = std::vector<std::unique_ptr<Member>>;

  Member& leader() const { return *members_[leader_]; }
  void for_each_member(const std::function<void(std::size_t)>& act);
  void look();
  void refit();

  std::shared_ptr<const TrainingSamples> samples_;  ///< held, so that they are loaded once
  Experiment experiment_;
  Device device_;
  Members members_;
  std::size_t leader_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace boolgrad
