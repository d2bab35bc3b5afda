// Training in memory, one step at a time.
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

namespace boolgrad::train {

/// The state of a run. It is a function of the experiment and the number of steps taken.
///
/// If the experiment has several members, a step is one step of each. Results are those of the
/// leader: the member with the lowest hard loss, with ties broken by the lowest soft loss.
class Trainer {
 public:
  /// Chooses the head of a table if it is automatic, and converts the epochs of a classifier to
  /// steps.
  explicit Trainer(const Experiment& experiment, const Device& device = {},
                   Group& group = single_process());

  /// Takes the knockout if it is due, then one step. Returns the loss of the leader.
  StepResult step();

  /// Steps taken so far.
  std::int64_t steps() const { return steps_; }

  /// Whether the knockout comes before the next step.
  bool knockout_due() const { return steps() == experiment_.knockout_step(); }
  void take_knockout();

  /// The learning rate of the last step, or of the first if none was taken.
  double learning_rate() const { return leader().learning_rate(); }

  const Experiment& experiment() const { return experiment_; }
  /// The ranks that train the same model. All of them take the same steps.
  Group& group() const { return group_; }
  /// The learner of the leader, with its model up to date.
  Learner& learner() const { return leader().learner(); }
  std::int64_t members() const { return static_cast<std::int64_t>(members_.size()); }

  /// Evaluates all members and makes the best one the leader.
  Evaluation evaluate();

  /// Steps that the leader has taken since its initialisation.
  std::int64_t leader_updates() const { return leader().updates(); }

  /// Replaces the models by the best recorded ones, if the experiment keeps them. For the end of a
  /// run.
  void take_best();

  /// Replaces the leader's model. For the end of a run.
  void take(const TensorFile& model) { leader().take(model); }

  /// Saturates the leader's logits, so that its soft model equals its hardened one. For the end of
  /// a run.
  void saturate() { leader().saturate(); }

  /// Models, moments and the number of steps, as copies. The file can be loaded as the leader's
  /// model.
  TensorFile state() const;

  /// Continues from a state. Throws for another architecture. Error messages start with `source`.
  void restore(const TensorFile& state, const std::string& source);

 private:
  /// `experiment` has a head.
  Trainer(const Device& device, Group& group, const Experiment& experiment);
  using Members = std::vector<std::unique_ptr<Member>>;

  Member& leader() const { return *members_[leader_]; }
  void for_each_member(const std::function<void(std::size_t)>& act);
  void record();
  void local_search();

  std::shared_ptr<const TrainingSamples> samples_;  ///< keeps the shared samples in memory
  Experiment experiment_;
  Device device_;
  Group& group_;
  Members members_;
  std::size_t leader_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace boolgrad::train
