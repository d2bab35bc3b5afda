// The training loop's inside: one step at a time, in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/engine.h"
#include "boolgrad/train/experiment.h"
#include "boolgrad/train/learner.h"

namespace boolgrad {

/// A run as a value: everything is a function of the experiment and the number of steps taken.
class Trainer {
 public:
  /// On `device`: `cpu` or `cuda`.
  explicit Trainer(const Experiment& experiment, const std::string& device = "cpu");
  Trainer(Trainer&&) = delete;  // the engine knows where experiment and learner are

  /// Takes the knockout, if it is due now, and then one step.
  StepResult step();

  /// Steps taken so far.
  std::int64_t steps() const { return steps_; }

  /// Whether the knockout comes before the next step.
  bool knockout_due() const { return steps() == experiment_.knockout_step(); }
  void take_knockout();

  /// The learning rate of the last step, or of the first where none was taken.
  double learning_rate() const;

  const Experiment& experiment() const { return experiment_; }
  /// What is trained, as it is now.
  const Learner& learner() const;
  Evaluation evaluate() const { return engine_->evaluate(); }

  /// Model, moments and the number of steps, in memory of their own.
  TensorFile state() const;

  /// Continues from a state. Refuses that of another architecture; `source` opens the message.
  void restore(const TensorFile& state, const std::string& source);

 private:
  Experiment experiment_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Engine> engine_;
  std::int64_t steps_ = 0;
};

}  // namespace boolgrad
