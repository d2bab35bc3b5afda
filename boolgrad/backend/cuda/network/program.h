// The buffers of a gate network on the device, and the launches of a step and of an evaluation.
// Inside of `cuda/`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/cuda/network/data.h"
#include "boolgrad/backend/cuda/optimiser/optimiser.h"
#include "boolgrad/backend/cuda/runtime/stream.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/network_rows.h"

namespace boolgrad::cuda {

class NetworkProgram {
 public:
  /// The wires are copied.
  NetworkProgram(std::span<const LutWires> layers, const NetworkSpec& spec);

  const NetworkSpec& spec() const { return spec_; }
  std::int64_t inputs() const { return layers_.front().inputs; }
  std::int64_t outputs() const { return layers_.back().gates; }
  std::span<const std::int64_t> gates_of_layers() const { return layer_gates_; }
  /// Of the logits and, where thresholds are trained, of their offsets.
  std::vector<Shape> parameter_shapes() const;

  void set_training_data(NetworkData data, const Tensor& targets);
  /// Trains the thresholds of the training data, or leaves them as they are where `ranges` is
  /// empty.
  void set_threshold_ranges(std::span<const float> ranges, double width_share);
  const NetworkData& training_data() const { return data_; }

  /// Offsets may be given before the data that says whether thresholds are trained.
  void set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                      const Tensor& input_mask);
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second);
  std::vector<Tensor> parameters() const { return download(parameters_); }
  std::vector<Tensor> gradients() const { return download(gradients_); }
  std::vector<Tensor> first_moments() const { return download(optimiser_.first()); }
  std::vector<Tensor> second_moments() const { return download(optimiser_.second()); }

  StepResult step(const NetworkStepArguments& arguments);
  double gradients_of(const NetworkStepArguments& arguments);
  /// Outputs of the layers that store them, of the last step.
  std::vector<Tensor> layer_outputs() const;
  NetworkScores evaluate(const NetworkData& data);
  double milliseconds(int count);

 private:
  /// The wires of a layer on the device.
  struct LayerWires {
    DeviceArray<PairGate> pair_gates;
    DeviceArray<PairInput> pair_inputs;
    DeviceArray<int> first_reader;
    DeviceArray<GateReader> readers;
    DeviceArray<int> sources, source_rows, output_rows, gradient_rows;
  };

  // How the network is laid out.
  void add_layer(const LutWires& wires, const LayerRows& rows, const LayerOffsets& offsets);
  void plan_passes(const NetworkOffsets& offsets);
  void allocate_rows();
  void allocate_scratch();
  bool is_summed(std::size_t layer) const { return spec_.head && layer + 1 == layers_.size(); }
  int groups() const { return spec_.head ? static_cast<int>(spec_.head->groups()) : 0; }
  bool learns_thresholds() const { return ranges_.size() > 0; }
  /// Where the norm or noise needs all gradients first, the optimiser goes through them by itself.
  bool updates_in_step() const {
    return spec_.optimiser.clip_norm <= 0 && spec_.optimiser.gradient_noise == 0;
  }

  // What kernels read.
  LossArguments loss_arguments() const;
  GateUpdate update_arguments(GateUpdate pass, bool only_gradients) const;
  SampleInputs sample_inputs(const NetworkData& data) const;
  SampleChoice step_choice() const;

  // Launches.
  void make_tables(float share);
  void make_tables_as(float share);
  void make_hardened_tables();
  void gather();
  void forward();
  void backward();
  void launch_step(bool only_gradients);
  void send_step();
  void prepare(const NetworkStepArguments& arguments);
  void run_whole_step();

  // Parts of an evaluation.
  struct EvaluationBuffers;
  void evaluate_soft(const RowShape& rows, EvaluationBuffers& buffers);
  void evaluate_hard(const RowShape& rows, EvaluationBuffers& buffers);

  std::vector<Tensor> download(const DeviceArray<float>& flat) const;
  void upload(std::span<const Tensor> tensors, DeviceArray<float>& flat) const;
  void upload_frozen(std::span<const Tensor> frozen);

  NetworkSpec spec_;
  RowShape rows_;
  std::vector<NetworkLayer> layers_;
  std::vector<LayerWires> wires_;
  std::vector<std::int64_t> layer_gates_;
  std::vector<Shape> logit_shapes_;
  std::vector<std::vector<std::int32_t>> output_rows_;
  std::vector<GateUpdate> passes_;  ///< runs of layers that one launch updates
  std::int64_t widest_ = 0;         ///< rows of gradients; one of zeros follows
  std::size_t gates_ = 0;
  std::size_t entries_ = 0;
  std::size_t logits_ = 0;
  float input_factor_ = 1;  ///< of the gradients of the inputs
  int parts_ = 0;           ///< of a group's sum
  int loss_count_ = 0;

  OwnStream stream_;
  StepGraph graph_;
  Optimiser optimiser_;
  std::uint32_t stamp_ = 0;
  bool chooses_ = false;             ///< whether the captured step has samples of its own
  bool hardens_ = false;             ///< whether its tables have a launch of their own
  std::optional<float> made_share_;  ///< how hard the coefficients are, where they are the update's

  // Logits, then offsets of thresholds, in all of these.
  DeviceArray<float> parameters_, gradients_;
  DeviceArray<float> masks_, input_mask_, coefficients_, sums_, loss_, frozen_;
  DeviceArray<std::size_t> first_gates_;
  std::vector<float> host_frozen_;
  NetworkData data_;
  DeviceArray<float> targets_;
  DeviceArray<int> labels_;
  DeviceArray<float> ranges_;  ///< [inputs] where thresholds are trained
  float width_share_ = 0;
  DeviceArray<float> x_, scores_, slot_scratch_;
  std::vector<DeviceArray<float>> y_;
  std::array<DeviceArray<float>, 2> g_;
  DeviceArray<double> losses_;
  DeviceArray<std::uint32_t> not_finite_;
  DeviceArray<StepState> state_;
  DeviceArray<int> chosen_;
  DeviceArray<ImageShift> shifts_;
  PinnedArray<StepState> host_state_;
  PinnedArray<int> host_chosen_;
  PinnedArray<ImageShift> host_shifts_;
  PinnedArray<StepOutcome> outcome_;
};

/// The geometry of rows of so many samples.
RowShape row_shape(std::int64_t samples);

inline std::size_t row_floats(std::int64_t features, const RowShape& rows) {
  return static_cast<std::size_t>(features) * static_cast<std::size_t>(rows.stride);
}

}  // namespace boolgrad::cuda
