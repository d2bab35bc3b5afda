// What is trained: a model, and a program that takes its steps on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boolgrad/backend/device/device.h"
#include "boolgrad/backend/device/program.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/model.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/learners/hardening.h"
#include "boolgrad/train/search/hard_trials.h"

namespace boolgrad {

/// Parameters are trained where the program runs. The model has those of the last `read_back`.
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

  /// Loss, gradients and an update in step `step`, counted from 0.
  StepResult step(std::int64_t step, double learning_rate);

  /// Sends the model as it is now, masks included, with moments that are `moments.step` steps old.
  virtual void load(const AdamWState& moments) = 0;
  /// Makes the model's parameters what the program's are.
  virtual void read_back();
  /// The moments as they are now, in memory of their own.
  AdamWState moments() const;

  /// How good the program's parameters are now.
  virtual Evaluation evaluate() = 0;

  /// Wrong bits of the hardened model, not of the program, and a fast way to try changes of single
  /// gates of it. The learner outlives it.
  virtual double hard_loss() const = 0;
  virtual std::unique_ptr<HardTrials> trials() const;

  /// The norm of the training gradient of each layer in step `step`; nothing is updated.
  std::vector<double> gradient_norms(std::int64_t step);

  /// What to multiply the learning rate of the next step by.
  double rate_factor() const { return hardening_.rate_factor(); }

  /// State that steps leave behind, as part of a checkpoint, and back.
  virtual void save_progress(TensorFile& file) const { hardening_.save(file); }
  virtual void load_progress(const TensorFile& file) { hardening_.load(file); }

  /// Makes ready for step `step`, where the sizes that a step computes on change with it.
  virtual void enter(std::int64_t /*step*/) {}

  /// Takes the knockout of the experiment. Doing so twice changes nothing.
  void knock_out();

 protected:
  Learner(const Experiment& experiment, const Device& device, Model model)
      : experiment_(experiment),
        device_(device),
        model_(std::move(model)),
        hardening_(experiment.hardening) {}

  virtual StepResult take_step(std::int64_t step, double learning_rate) = 0;
  virtual std::vector<Tensor> gradients(std::int64_t step) = 0;
  virtual DeviceProgram& program() const = 0;
  /// Output bits that the loss of a step is summed over.
  virtual double loss_terms() const = 0;

  std::uint64_t seed() const { return static_cast<std::uint64_t>(experiment_.seed); }
  HardeningStep hardening_step(std::int64_t step) const { return hardening_.step(seed(), step); }
  /// Of `freeze`: which gates are fixed in the next step.
  std::vector<Tensor> frozen_gates() const;
  AdamWOptions optimiser_options() const;

  Experiment experiment_;
  Device device_;
  Model model_;
  Hardening hardening_;
  std::int64_t updates_ = 0;  ///< that the moments have seen
};

/// The learner that an experiment describes, on `device`. Refuses what the device does not support.
std::unique_ptr<Learner> make_learner(const Experiment& experiment, const Device& device = {});

/// Steps that go once through all there is to learn from.
std::int64_t steps_per_epoch(const Experiment& experiment);

/// The experiment of a classifier with its epochs counted in steps: those to train, and those
/// between two lines logged where they are 0. Any other stays as it is, and so does one that has
/// been counted.
Experiment with_epochs_in_steps(Experiment experiment);

}  // namespace boolgrad
