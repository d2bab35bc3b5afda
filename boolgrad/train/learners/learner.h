// A model in training, and the program that takes its steps on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boolgrad/backend/device/program.h"
#include "boolgrad/core/group.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/model.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/options/device.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/learners/hardening.h"
#include "boolgrad/train/search/move_evaluator.h"

namespace boolgrad::train {

/// The program holds the parameters during training. The model has those of the last `read_back`.
class Learner {
 public:
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  const Experiment& experiment() const { return experiment_; }
  const Device& device() const { return device_; }
  const Model& model() const { return model_; }
  Model& model() { return model_; }
  const Hardening& hardening() const { return hardening_; }

  /// Takes step `step`, counted from 0: loss, gradients and update.
  StepResult step(std::int64_t step, double learning_rate);

  /// Sends parameters and masks of the model to the program, with these moments.
  virtual void load(const AdamWState& moments) = 0;
  /// Copies the program's parameters to the model.
  virtual void read_back();
  /// A copy of the present moments.
  AdamWState moments() const;

  /// Evaluates the program's parameters.
  virtual Evaluation evaluate() = 0;

  /// Hard loss of the model (not of the program).
  virtual double hard_loss() const = 0;
  /// Evaluates changes of single gates of the model. The learner must outlive it.
  virtual std::unique_ptr<MoveEvaluator> move_evaluator() const;

  /// The norm of the training gradient of each layer in step `step`, without an update.
  std::vector<double> gradient_norms(std::int64_t step);

  /// Factor of the learning rate of the next step.
  double rate_factor() const { return hardening_.rate_factor(); }

  /// Progress other than parameters and moments, as part of a checkpoint, and back.
  virtual void save_progress(TensorFile& file) const { hardening_.save(file); }
  virtual void load_progress(const TensorFile& file) { hardening_.load(file); }

  /// Prepares for step `step`, if the sizes of a step change during training.
  virtual void enter(std::int64_t /*step*/) {}

  /// Takes the knockout of the experiment. Idempotent.
  void knock_out();

 protected:
  Learner(const Experiment& experiment, const Device& device, Group& group, Model model)
      : experiment_(experiment),
        device_(device),
        group_(group),
        model_(std::move(model)),
        hardening_(experiment.hardening) {}

  virtual StepResult take_step(std::int64_t step, double learning_rate) = 0;
  virtual std::vector<Tensor> gradients(std::int64_t step) = 0;
  virtual DeviceProgram& program() const = 0;
  /// Number of output bits that the loss of a step is summed over.
  virtual double loss_terms() const = 0;

  std::uint64_t seed() const { return static_cast<std::uint64_t>(experiment_.seed); }
  HardeningStep hardening_step(std::int64_t step) const { return hardening_.step(seed(), step); }
  /// For `freeze`: the gates that are fixed in the next step.
  std::vector<Tensor> frozen_gates() const;
  AdamWOptions optimiser_options() const;

  /// Whether a batch is computed block by block, for any number of ranks.
  bool splits_batch() const { return experiment_.training.blocks > 1; }

  Experiment experiment_;
  Device device_;
  Group& group_;
  Model model_;
  Hardening hardening_;
  std::int64_t updates_ = 0;  ///< step count of the moments
};

/// Zero moments for these parameters, after `step` steps.
AdamWState zero_moments(const std::vector<Tensor>& parameters, std::int64_t step);

/// The learner of an experiment, on `device`. The ranks of a group share the batches. Throws if the
/// device does not support it.
std::unique_ptr<Learner> make_learner(const Experiment& experiment, const Device& device = {},
                                      Group& group = single_process());

/// Steps of one pass over all cases or training samples.
std::int64_t steps_per_epoch(const Experiment& experiment);

/// The number of steps of a number of epochs. Throws if a run cannot have so many.
std::int64_t steps_of_epochs(std::int64_t epochs, std::int64_t steps_per_epoch);

/// For classifiers: converts epochs to steps, and a log interval of 0 to one epoch. Other
/// experiments are returned unchanged. Idempotent.
Experiment with_epochs_in_steps(Experiment experiment);

}  // namespace boolgrad::train
