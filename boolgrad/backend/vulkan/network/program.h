// Buffers and dispatches of a gate network on a number of samples at a time. Internal to `vulkan/`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/vulkan/network/arguments.h"
#include "boolgrad/backend/vulkan/network/placement.h"
#include "boolgrad/backend/vulkan/runtime/commands.h"
#include "boolgrad/backend/vulkan/runtime/memory.h"

namespace boolgrad::vulkan {

/// State shared by training and evaluation. The offsets of trained thresholds follow all logits,
/// and the exponents of trained weights follow them; space for both is always allocated.
struct NetworkParameters {
  Array<std::int32_t> wires;
  Array<float> values, gradients;
  Array<float> moments;         ///< first moments, then second moments
  Array<float> masks;           ///< one per table, then the frozen flags
  Array<float> output_weights;  ///< only with a head; then the largest sum of each group
  // Only for learned wires:
  Array<std::int32_t> chosen;  ///< the most probable candidate of every slot, from 0 on
  Array<float> weights;        ///< the probabilities of all candidates
  bool learns_thresholds = false;
  float width_share = 0;
};

/// The samples of one role.
struct NetworkData {
  Array<std::uint32_t> data;
  Array<std::uint32_t> targets;  ///< followed by soft targets [cases, classes], if there are any
  bool has_soft_targets = false;
  Array<NetworkInput> inputs;
  std::int64_t cases = 0;
  DataKind kind = DataKind::rows;
  std::int64_t features = 0;
  bool has_images = false;
  std::int64_t height = 1;
  std::int64_t width = 1;
};

struct NetworkShader;

/// Throws if the device does not allow a buffer of this size.
void check_buffer(const Context& context, std::size_t bytes);

/// The partial sums of the gradients of a layer's coefficients: their offset, and the number and
/// length of the chunks.
struct LayerSums {
  std::int32_t first, chunks, chunk_vectors;
};

class NetworkProgram {
 public:
  enum class Use : std::uint8_t { training, evaluation };

  /// The spec, the layout, the parameters and the data must outlive it. `samples` is the maximum
  /// per run.
  NetworkProgram(Context& context, const NetworkSpec& spec, const NetworkLayout& layout,
                 const NetworkParameters& parameters, const NetworkData& data, Use use,
                 std::int64_t samples);

  /// The data samples of the next run, at most as many as the program was created for. If their
  /// number changes, commands must be recorded again.
  void set_batch(std::span<const std::int64_t> cases,
                 std::span<const ImageTransform> transforms = {});
  /// If `hardening_for_shaders` changes, commands must be recorded again.
  void set_hardening(const HardeningStep& step);
  void set_update(std::int64_t step, double learning_rate) {
    arguments_.shared()[0].update = update_arguments(spec_.optimiser, step, learning_rate);
  }

  void set_wire_temperature(double temperature) {
    arguments_.shared()[0].wire_scale = static_cast<float>(1 / temperature);
  }

  /// Replaces that of the head.
  void set_head_temperature(double temperature);

  // Dispatches, in this order, with barriers between them and at the end.
  /// Inputs, tables of soft gates, choices of wires, and weights of outputs.
  void gather(CommandRecorder& to) const;
  void forward(CommandRecorder& to) const;
  void sum_groups(CommandRecorder& to) const;  ///< group sums of a head
  void loss(CommandRecorder& to) const;        ///< with its gradient
  void backward(CommandRecorder& to) const;
  /// Only the gradients of activations, down to the slots of a layer with learned wires.
  void backward_to_slots(CommandRecorder& to, std::size_t layer) const;
  void update(CommandRecorder& to) const;
  void harden(CommandRecorder& to) const;        ///< the hardened circuit on the gathered inputs
  void count_groups(CommandRecorder& to) const;  ///< its sums for a head

  std::int64_t samples() const { return sizes_.samples; }  ///< of the next run

  // Results of the last run.
  double loss() const;
  double sum_deviation() const;  ///< standard deviation of all group sums
  bool was_finite() const { return results_.shared()[0] != 0; }
  std::size_t row() const;                              ///< distance between rows of samples
  std::vector<float> outputs(std::size_t layer) const;  ///< [gates, row]
  std::vector<float> rows(std::int64_t first, std::int64_t count) const;  ///< of activations
  /// Gradients of the outputs of a layer or of slots, until they are overwritten.
  std::vector<float> gradient_rows(const LayerLayout& layer) const;
  /// Words of the outputs of the hardened circuit, [outputs, words].
  std::vector<std::uint32_t> hard_outputs() const;
  std::int64_t words() const { return (sizes_.samples + 31) / 32; }
  /// Group sums of soft or hard outputs, [groups, row].
  std::vector<float> scores(bool of_hard) const;

 private:
  void allocate(std::int64_t samples);
  void set_constant_arguments(std::int64_t samples);
  std::unique_ptr<BufferSet> bound(std::size_t turn) const;
  NetworkPush push_for(const LayerLayout& layer) const;
  /// For shaders that read and write words of the hardened circuit.
  NetworkPush hard_push_for(const LayerLayout& layer) const;
  /// The buffer set with the output and input gradients of a layer: two buffers, used alternately.
  const BufferSet& set_for(const LayerLayout& layer) const;
  /// Dispatches `groups` workgroups of a shader on a layer, each with the work of `gates` gate
  /// evaluations.
  void dispatch(CommandRecorder& to, const NetworkShader& shader, const LayerLayout& layer,
                NetworkPush push, std::int64_t groups, double gates_per_group = 0) const;
  /// One thread per item.
  void dispatch_items(CommandRecorder& to, const NetworkShader& shader, const LayerLayout& layer,
                      const NetworkPush& push, std::int64_t items, double gates_per_item = 0) const;
  void join_scores(CommandRecorder& to, const NetworkPush& push) const;
  /// Slots from the inputs of a layer with learned wires.
  void select(CommandRecorder& to, const LayerLayout& slots) const;
  void forward(CommandRecorder& to, const StageLayout& stage) const;
  void backward(CommandRecorder& to, const StageLayout& stage, bool wants_inputs) const;
  void backward_of_trees(CommandRecorder& to, const LayerLayout& trees, bool wants_inputs) const;
  void sum_products(CommandRecorder& to, const LayerLayout& layer) const;
  void input_gradients(CommandRecorder& to, const LayerLayout& layer) const;
  void backward_of_slots(CommandRecorder& to, const LayerLayout& slots, bool wants_inputs) const;
  /// Divides the samples over which a layer's gradients are summed into chunks. Returns the number
  /// of vectors of sums.
  std::int64_t plan_sums();
  /// Whether gradients pass through a stage: to slots, to stages below, or to thresholds.
  bool wants_inputs(const StageLayout& stage) const;
  /// The largest number of rows of gradients of leaves.
  std::int64_t leaf_rows() const;
  std::int64_t loss_parts() const;
  std::int64_t group_parts() const { return std::int64_t{sizes_.groups} * sizes_.group_parts; }

  Context& context_;
  const NetworkSpec& spec_;
  const NetworkLayout& layout_;
  const NetworkParameters& parameters_;
  const NetworkData& data_;
  Use use_;
  double gates_per_submission_;
  HardeningKind hardening_ = HardeningKind::none;
  std::uint32_t lanes_ = 1;
  NetworkPush sizes_{};
  std::vector<LayerSums> sums_of_layers_;
  std::int32_t first_exponent_part_ = 0;
  Array<NetworkArguments> arguments_;
  Array<float> coefficients_, activations_, sums_, parts_, scores_;
  std::array<Array<float>, 2> gradients_;
  Array<float> leaf_gradients_;
  /// Whether all values were finite, then the partial losses; with a head, then the means and the
  /// squared distances of parts of the sums.
  Array<float> results_;
  Array<std::uint32_t> words_;
  Array<BatchSample> host_batch_, batch_;
  std::array<std::unique_ptr<BufferSet>, 2> sets_;
};

/// Maximum number of samples per evaluation run on this device.
std::int64_t evaluation_samples(const Context& context, const NetworkLayout& layout,
                                std::int64_t cases);

}  // namespace boolgrad::vulkan
