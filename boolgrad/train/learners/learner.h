// What a trainer trains: parameters, a loss for every step, and a measure of how good they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/tensor/tensor.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/search/hard_trials.h"
#include "boolgrad/model/inspection.h"

namespace boolgrad {

class Learner {
 public:
  Learner() = default;
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  /// Makes ready for step `step`. Returns whether what a step computes on has another size from
  /// now on, so that whoever holds buffers for it must make others.
  virtual bool enter(std::int64_t /*step*/) { return false; }

  /// Whether a step computes on what `evaluate` judges, not on something smaller.
  virtual bool trains_in_full() const { return true; }

  /// What is trained, in a fixed order.
  virtual std::vector<Tensor> parameters() const = 0;

  /// The loss of step `step`, counted from 0, on the tape: a function of the parameters and of
  /// the step's number alone.
  virtual Tensor loss(std::int64_t step) = 0;

  /// What to multiply the learning rate of the next step by.
  virtual double rate_factor() const { return 1; }

  /// Takes note of the loss of the step that was just taken.
  virtual void observe(double /*loss*/) {}

  /// What `observe` has left behind, as part of a checkpoint, and back.
  virtual void save_progress(TensorFile& /*file*/) const {}
  virtual void load_progress(const TensorFile& /*file*/) {}

  /// How good the parameters are now.
  virtual Evaluation evaluate() const = 0;

  /// Bits that the hardened model gets wrong: `evaluate().hard_loss` by itself, which is quick.
  virtual double hard_loss() const = 0;

  /// A quick way to try changes of single gates, from the hardened model as it is now. As made
  /// here, it asks for `hard_loss` each time. The learner outlives it.
  virtual std::unique_ptr<HardTrials> trials() const;

  /// How parameters are read, and which gates of which of them the hardened outputs depend on.
  virtual Parametrisation parametrisation() const = 0;
  virtual std::vector<std::vector<bool>> active_gates() const = 0;

  /// What the model consists of.
  virtual Inspection inspect() const = 0;

  /// The model, and the model replaced by one of the same architecture.
  virtual TensorFile to_file() const = 0;
  virtual void restore(const TensorFile& file) = 0;

  /// Takes the knockout of the experiment. Doing so twice changes nothing.
  virtual void knock_out() = 0;

  /// What is switched off now: gates and inputs.
  virtual std::int64_t masked() const = 0;

  /// Steps that go once through all there is to learn from.
  virtual std::int64_t steps_per_epoch() const = 0;
};

/// The learner that an experiment describes.
std::unique_ptr<Learner> make_learner(const Experiment& experiment);

/// The experiment of a classifier with its epochs counted in steps of `learner`: those to train,
/// and those between two lines logged where they are 0. Any other stays as it is, and so does one
/// that has been counted.
Experiment with_epochs_in_steps(Experiment experiment, const Learner& learner);

}  // namespace boolgrad
