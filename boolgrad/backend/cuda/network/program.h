// Device buffers and launches of a gate network. Internal to `cuda/`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/cuda/network/convolution.h"
#include "boolgrad/backend/cuda/network/data.h"
#include "boolgrad/backend/cuda/network/head.h"
#include "boolgrad/backend/cuda/network/selection.h"
#include "boolgrad/backend/cuda/optimiser/optimiser.h"
#include "boolgrad/backend/cuda/runtime/stream.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/network_buffers.h"
#include "boolgrad/backend/plan/network_stages.h"

namespace boolgrad::cuda {

class NetworkProgram {
 public:
  /// The wires are copied.
  NetworkProgram(std::span<const LutWires> layers, const NetworkSpec& spec);

  const NetworkSpec& spec() const { return spec_; }
  std::int64_t inputs() const { return inputs_; }
  std::int64_t outputs() const { return layers_.back().gates; }
  /// Shapes of the logits, of the offsets of trained thresholds and of the exponents of trained
  /// weights.
  std::vector<Shape> parameter_shapes() const;

  void set_training_data(NetworkData data, const Tensor& targets);
  /// Trains the thresholds of the training data. They stay fixed if `ranges` is empty. The
  /// parameters must be set after that.
  void set_threshold_ranges(std::span<const float> ranges, double width_share);
  const NetworkData& training_data() const { return data_; }

  void set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                      const Tensor& input_mask);
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second);
  std::vector<Tensor> parameters() const { return download(parameters_); }
  std::vector<Tensor> gradients() const { return download(gradients_); }
  std::vector<Tensor> first_moments() const { return download(optimiser_.first()); }
  std::vector<Tensor> second_moments() const { return download(optimiser_.second()); }

  void set_candidates(std::size_t layer, const CandidateWires& candidates);

  StepResult step(const NetworkStepArguments& arguments);
  double gradients_of(const NetworkStepArguments& arguments);
  WireSignals wire_signals(const NetworkStepArguments& arguments, std::size_t layer);
  /// Outputs of the last step, for the layers that store them.
  std::vector<Tensor> layer_outputs() const;
  NetworkScores evaluate(const NetworkData& data, double wire_temperature);
  double milliseconds(int count);

 private:
  /// The wires of a layer on the device.
  struct LayerWires {
    DeviceArray<PairGate> pair_gates;
    DeviceArray<PairInput> pair_inputs;
    DeviceArray<int> first_reader;
    DeviceArray<GateReader> readers;
    DeviceArray<int> sources, source_rows, output_rows, gradient_rows;
    DeviceArray<std::uint8_t> outside;
  };

  /// Layers that are computed at once, and the wires of their trees on the device.
  struct Stage {
    std::size_t first = 0, last = 0;  ///< layers
    std::optional<TreeStage> trees = {};
    DeviceArray<int> rows, kernel_of, leaves, first_section, first_leaf_row, leaf_rows;
    DeviceArray<TreeSection> sections;
    DeviceArray<std::uint32_t> winners;  ///< of pooling, in a step
  };

  /// What a stage reads and writes.
  struct StageRows {
    RowShape shape;
    const float* x;
    float* slots;            ///< with learned wires
    float* y;                ///< unless outputs are only summed
    float* scores;           ///< if outputs are only summed
    std::uint32_t* winners;  ///< of pooling; null: not wanted
  };

  /// The coefficients and sums that the kernels of a layer read and write.
  struct LayerTables {
    const float* coefficients;
    float* sums;
    std::size_t entries;
  };

  /// The candidates of a layer on the device.
  struct LayerCandidates {
    WireLayer view;
    bool has_outside = false;
    DeviceArray<int> sources, first_use, uses, chosen;
    DeviceArray<float> weights;
    DeviceArray<float> slots;  ///< their values in a step
  };

  // How the network is laid out.
  void add_layer(const LutWires& wires, const LayerBuffers& rows, const LayerOffsets& offsets,
                 bool is_in_trees);
  void add_stage(const NetworkStage& stage, const std::vector<std::int32_t>& output_rows,
                 const NetworkOffsets& offsets);
  void add_candidates(const LutWires& wires, const LayerOffsets& offsets);
  void plan_passes(const NetworkOffsets& offsets);
  void allocate_rows();
  void allocate_head();
  void allocate_scratch();
  bool is_summed(std::size_t layer) const {
    return sums_last_layer_ && layer + 1 == layers_.size();
  }
  /// Whether the outputs of the last layer are stored, then summed.
  bool sums_outputs() const { return spec_.head && !sums_last_layer_; }
  /// Whether the backward pass computes the gradients of what a stage reads.
  bool wants_gradients_below(std::size_t stage) const {
    return stage > 0 || learns_thresholds() || learns_wires(stages_[stage].first);
  }
  const float* inputs_of(std::size_t stage) const {
    return stage == 0 ? x_.data() : y_[stages_[stage - 1].last].data();
  }
  int groups() const { return spec_.head ? static_cast<int>(spec_.head->groups()) : 0; }
  bool learns_thresholds() const { return ranges_.size() > 0; }
  /// The gradients of trained exponents of a regression depend on the sums.
  bool wants_sums() const {
    return reports_deviation_ || (exponents_ > 0 && spec_.head->kind == HeadKind::regression);
  }
  bool learns_wires(std::size_t layer) const { return candidates_[layer].view.count > 0; }
  /// Whether the inputs of a layer are 0 or 1 in the step.
  bool has_binary_inputs(std::size_t layer) const {
    return data_.has_features() && mask_is_binary_ &&
           (layer == 0 || (tables_are_hard_ && spec_.wire_forward == WireForward::hard));
  }
  /// The first threshold offset among the parameters.
  std::size_t first_offset() const { return logits_ + wire_logits_; }
  /// The first exponent of trained weights.
  std::size_t first_exponent() const {
    return first_offset() + (learns_thresholds() ? static_cast<std::size_t>(inputs()) : 0);
  }
  /// Clipping by norm and noise need all gradients first; the optimiser then runs as a separate
  /// launch.
  bool updates_in_step() const {
    return spec_.optimiser.clip_norm <= 0 && spec_.optimiser.gradient_noise == 0;
  }

  // Kernel arguments.
  LayerTables tables_of(std::size_t layer) const;
  HeadOutputs head_outputs() const;
  PowerWeights power_weights() const;
  HeadBackward head_backward(float* of_outputs) const;
  LossArguments loss_arguments() const;
  GateUpdate update_arguments(GateUpdate pass, bool only_gradients) const;
  SampleInputs sample_inputs(const NetworkData& data) const;
  SampleChoice step_choice() const;

  // Launches.
  void make_tables(float share);
  void ensure_tables(float share);
  void make_hardened_tables();
  void choose_sources();
  void gather();
  void expand_tables();
  void make_output_weights();
  void compute(const Stage& stage, const StageRows& rows);
  void forward();
  /// The gradients of stages from the last one down to `first`; of slots only, in that stage, if
  /// `only_slots`.
  void backward(std::size_t first = 0, bool only_slots = false);
  void differentiate(std::size_t number);
  void differentiate_wires(std::size_t stage);
  void differentiate_loss();
  void launch_step(bool only_gradients);
  void send_step();
  void prepare(const NetworkStepArguments& arguments);
  void run_whole_step();

  // Parts of an evaluation.
  struct EvaluationBuffers;
  void evaluate_soft(const RowShape& rows, EvaluationBuffers& buffers);
  void evaluate_hard(const RowShape& rows, EvaluationBuffers& buffers);

  std::vector<Tensor> download(const DeviceArray<float>& flat) const;
  Tensor download_rows(const DeviceArray<float>& rows, std::int64_t count) const;
  void upload(std::span<const Tensor> tensors, DeviceArray<float>& flat) const;
  void upload_frozen(std::span<const Tensor> frozen);

  NetworkSpec spec_;
  RowShape rows_;
  std::vector<NetworkLayer> layers_;
  std::vector<LayerWires> wires_;
  std::vector<Stage> stages_;
  std::vector<std::optional<SharedTables>> shared_;  ///< one per layer
  std::vector<LayerCandidates> candidates_;  ///< one per layer; empty if its wires are fixed
  std::int64_t inputs_ = 0;
  std::vector<std::int64_t> layer_tables_;
  std::vector<Shape> logit_shapes_;
  std::vector<std::vector<std::int32_t>> output_rows_;
  std::vector<GateUpdate> passes_;  ///< runs of layers updated by one launch
  bool weighs_outputs_ = false;     ///< whether outputs count more than once in sums
  bool sums_last_layer_ = false;    ///< whether the outputs of the last layer are only summed
  std::int64_t widest_ = 0;         ///< rows of the widest gradient; followed by a row of zeros
  std::int64_t widest_layer_ = 0;   ///< likewise, if every layer is computed on its own
  std::size_t tables_ = 0;
  std::size_t entries_ = 0;
  std::size_t expanded_entries_ = 0;  ///< of gates that share tables
  std::size_t logits_ = 0;            ///< of tables
  std::size_t wire_logits_ = 0;       ///< of learned wires
  std::size_t exponents_ = 0;         ///< of trained weights of outputs
  std::int64_t max_slots_ = 0;        ///< of a layer with learned wires
  float input_factor_ = 1;            ///< scale of the input gradients
  int parts_ = 0;                     ///< partial sums per group
  int loss_count_ = 0;

  OwnedStream stream_;
  StepGraph graph_;
  Optimiser optimiser_;
  std::uint32_t stamp_ = 0;
  bool has_choice_ = false;           ///< whether the captured step has an explicit choice of
                                      ///< samples
  bool only_shifts_ = true;           ///< whether all transforms of this data were shifts
  bool hardens_ = false;              ///< whether its tables are computed by a separate launch
  bool mask_is_binary_ = true;        ///< whether all masks are 0 or 1
  bool tables_are_hard_ = false;      ///< in the captured step
  bool reports_deviation_ = false;    ///< in the captured step, that of the sums of the head
  bool has_choices_ = false;          ///< whether the chosen wires are those of the parameters
  std::optional<float> table_share_;  ///< hardness of the coefficients, if the update left them

  // Each holds the logits of gates, those of wires, the offsets of trained thresholds, then the
  // exponents of trained weights.
  DeviceArray<float> parameters_, gradients_;
  DeviceArray<float> masks_, input_mask_, coefficients_, sums_, loss_, frozen_;
  DeviceArray<float> expanded_, expanded_sums_;  ///< of gates that share tables
  DeviceArray<std::size_t> first_tables_;
  std::vector<float> host_frozen_;
  NetworkData data_;
  DeviceArray<float> targets_;
  DeviceArray<int> labels_;
  DeviceArray<float> ranges_;  ///< [inputs] if thresholds are trained
  float width_share_ = 0;
  DeviceArray<float> x_, scores_, slot_scratch_;
  DeviceArray<float> leaf_gradients_, partial_sums_;  ///< of one stage of trees
  DeviceArray<float> sum_gradients_;                  ///< if outputs are stored, then summed
  DeviceArray<float> group_sums_;                     ///< of a head, if wanted
  DeviceArray<float> weights_;                        ///< of outputs, if they count more than once
  DeviceArray<float> largest_sums_;                   ///< of the groups of a head
  DeviceArray<float> slot_sums_;                      ///< of one layer whose slots share logits
  DeviceArray<float> slot_gradients_;                 ///< of one layer with learned wires
  DeviceArray<std::uint32_t> input_bits_;             ///< of one layer with learned wires
  std::vector<DeviceArray<float>> y_;                 ///< one per layer; empty within trees
  std::array<DeviceArray<float>, 2> g_;
  DeviceArray<double> losses_;
  DeviceArray<std::uint32_t> not_finite_;
  DeviceArray<StepState> state_;
  DeviceArray<int> chosen_;
  DeviceArray<ImageTransform> transforms_;
  PinnedArray<StepState> host_state_;
  PinnedArray<int> host_chosen_;
  PinnedArray<ImageTransform> host_transforms_;
  PinnedArray<StepOutcome> outcome_;
};

/// The row layout for a number of samples.
RowShape row_shape(std::int64_t samples);

inline std::size_t row_floats(std::int64_t features, const RowShape& rows) {
  return static_cast<std::size_t>(features) * static_cast<std::size_t>(rows.stride);
}

}  // namespace boolgrad::cuda
