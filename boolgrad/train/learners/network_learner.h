// Learners of Boolean tasks and of classifiers.
#pragma once

#include <memory>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/model/samples.h"
#include "boolgrad/train/learners/batch_order.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad::train {

/// What both share: a network program, and the samples of each step.
class NetworkLearner : public Learner {
 public:
  void load(const AdamWState& moments) override;
  void read_back() override;

  std::int64_t batch_size() const { return spec_.batch; }

 protected:
  NetworkLearner(const Experiment& experiment, const Device& device, Group& group, Model model,
                 std::int64_t samples);

  /// Makes the program and sends its data. To be called at the end of a constructor.
  void start(const NetworkSpec& spec);
  /// Sends the samples.
  virtual void send_data() = 0;
  /// Batch size for `count` samples.
  static std::int64_t batch_of(const Experiment& experiment, std::int64_t count);
  NetworkSpec spec_for(std::int64_t batch) const;

  StepResult take_step(std::int64_t step, double learning_rate) override;
  std::vector<Tensor> gradients(std::int64_t step) override;
  DeviceNetwork& program() const override { return *program_; }
  std::int64_t sample_count() const { return samples_; }
  /// Temperature of learned wires in step `step`.
  double wire_temperature(std::int64_t step) const;

 private:
  /// Replaces candidates of learned wires, if it is time.
  void redraw_candidates(std::int64_t step);
  /// New candidates of the layer `index`.
  logic::RedrawnCandidates redrawn(std::size_t index, std::int64_t step);
  /// Moves the temperature of the head after a step, if it is adapted.
  void adapt_temperature(double sum_deviation);
  bool program_has_wires_of_model() const;
  /// Sends candidates, parameters and masks of the model.
  void send_model();
  /// Arguments of a step. They refer to members and are valid until the next call.
  NetworkStepArguments arguments(std::int64_t step, double learning_rate);

  std::int64_t samples_;
  NetworkSpec spec_;
  std::unique_ptr<DeviceNetwork> program_;
  std::vector<logic::GateLayer> program_layers_;  ///< those that the program was made for
  BatchOrder order_;
  std::vector<std::int64_t> picked_;
  std::vector<ImageTransform> transforms_;
  std::vector<Tensor> frozen_;
};

/// Learns a truth table.
std::unique_ptr<Learner> make_circuit_learner(const Experiment& experiment, const Device& device,
                                              Group& group);

/// Learns from samples.
std::unique_ptr<Learner> make_classifier_learner(const Experiment& experiment, const Device& device,
                                                 Group& group);

/// The training samples of a classifier. Loaded once and shared.
std::shared_ptr<const TrainingSamples> training_samples_of(const Experiment& experiment);

}  // namespace boolgrad::train
