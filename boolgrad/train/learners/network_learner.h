// Circuits that learn Boolean tasks, and circuits that learn from samples.
#pragma once

#include <memory>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/model/samples.h"
#include "boolgrad/train/learners/batch_order.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad {

/// What both kinds share: a network program, and which samples each step learns from.
class NetworkLearner : public Learner {
 public:
  void load(const AdamWState& moments) override;

  std::int64_t batch_size() const { return spec_.batch; }

 protected:
  NetworkLearner(const Experiment& experiment, const Device& device, Model model,
                 std::int64_t samples);

  /// Makes the program and sends what it needs; the last that a constructor does.
  void start(const NetworkSpec& spec);
  /// Sends the samples.
  virtual void send_data() = 0;
  /// How many samples a batch has of `count`.
  static std::int64_t batch_of(const Experiment& experiment, std::int64_t count);
  NetworkSpec spec_for(std::int64_t batch) const;

  StepResult take_step(std::int64_t step, double learning_rate) override;
  std::vector<Tensor> gradients(std::int64_t step) override;
  DeviceNetwork& program() const override { return *program_; }
  std::int64_t sample_count() const { return samples_; }

 private:
  /// What the step reads, in memory that lasts until the next step is asked for.
  NetworkStepArguments arguments(std::int64_t step, double learning_rate);

  std::int64_t samples_;
  NetworkSpec spec_;
  std::unique_ptr<DeviceNetwork> program_;
  BatchOrder order_;
  std::vector<std::int64_t> picked_;
  std::vector<ImageShift> shifts_;
  std::vector<Tensor> frozen_;
};

/// A circuit and all cases of its truth table.
std::unique_ptr<Learner> make_circuit_learner(const Experiment& experiment, const Device& device);

/// A classifier and its samples.
std::unique_ptr<Learner> make_classifier_learner(const Experiment& experiment,
                                                 const Device& device);

/// The samples that a classifier's experiment trains on, shared by all that ask.
std::shared_ptr<const TrainingSamples> training_samples_of(const Experiment& experiment);

}  // namespace boolgrad
