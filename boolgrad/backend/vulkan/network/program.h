// The buffers and the dispatches of a gate network on a number of samples at a time. Inside of
// `vulkan/`.
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

/// What training and evaluation of a network share. The offsets of learned thresholds follow the
/// logits; there is always room for them.
struct NetworkParameters {
  Array<std::int32_t> wires;
  Array<float> values, gradients;
  Array<float> moments;  ///< first ones, and from half of it on second ones
  Array<float> masks;    ///< of all gates, then which gates are frozen
  bool learns_thresholds = false;
  float width_share = 0;
};

/// The samples of a role.
struct NetworkData {
  Array<std::uint32_t> data, targets;
  Array<NetworkInput> inputs;
  std::int64_t cases = 0;
  DataKind kind = DataKind::rows;
  std::int64_t features = 0;
  bool has_images = false;
  std::int64_t height = 1;
  std::int64_t width = 1;
};

struct NetworkShader;

/// Refuses a buffer that is larger than the device allows.
void check_buffer(const Context& context, std::size_t bytes);

class NetworkProgram {
 public:
  enum class Use : std::uint8_t { training, evaluation };

  /// The spec, the layout, the parameters and the data outlive it. `samples` is the most that it
  /// takes at a time.
  NetworkProgram(Context& context, const NetworkSpec& spec, const NetworkLayout& layout,
                 const NetworkParameters& parameters, const NetworkData& data, Use use,
                 std::int64_t samples);

  /// The cases that the next run takes, at most as many as there is room for. Where their number
  /// is another, what was recorded before must be recorded again.
  void set_batch(std::span<const std::int64_t> cases, std::span<const ImageShift> shifts = {});
  /// Where `hardening_for_shaders` is another, what was recorded before must be recorded again.
  void set_hardening(const HardeningStep& step);
  void set_update(std::int64_t step, double learning_rate) {
    arguments_.shared()[0].update = update_arguments(spec_.optimiser, step, learning_rate);
  }

  // Dispatches, in this order, with barriers between them and at the end.
  void gather(Recording& to) const;  ///< inputs, and tables of soft gates
  void forward(Recording& to) const;
  void sum_groups(Recording& to) const;  ///< scores of a head
  void loss(Recording& to) const;        ///< with its gradient
  void backward(Recording& to) const;
  void update(Recording& to) const;
  void harden(Recording& to) const;  ///< the hardened circuit on the inputs that were gathered
  void count_groups(Recording& to) const;  ///< sums of its outputs for a head

  std::int64_t samples() const { return sizes_.samples; }  ///< of the next run

  // What the last run left.
  double loss() const;
  bool was_finite() const { return seen_.shared()[0] != 0; }
  std::size_t row() const;                              ///< what rows of samples lie apart
  std::vector<float> outputs(std::size_t layer) const;  ///< [gates, row]
  /// Words of the outputs of the hardened circuit, [outputs, words].
  std::vector<std::uint32_t> hard_outputs() const;
  std::int64_t words() const { return (sizes_.samples + 31) / 32; }
  /// Scores of soft outputs, or sums of hard ones, [groups, row].
  std::vector<float> scores(bool of_hard) const;

 private:
  void allocate(std::int64_t samples);
  void set_constant_arguments(std::int64_t samples);
  std::unique_ptr<BufferSet> bound(std::size_t turn) const;
  NetworkPush push_for(const LayerLayout& layer) const;
  /// The buffers with the gradients of a layer's outputs and of its inputs, two that take turns.
  const BufferSet& set_for(const LayerLayout& layer) const;
  /// So many groups of a shader on a layer, each with the work of so many gates of samples.
  void dispatch(Recording& to, const NetworkShader& shader, const LayerLayout& layer,
                NetworkPush push, std::int64_t groups, double gates_per_group = 0) const;
  /// One thread per item.
  void dispatch_items(Recording& to, const NetworkShader& shader, const LayerLayout& layer,
                      const NetworkPush& push, std::int64_t items, double gates_per_item = 0) const;
  void join_scores(Recording& to, const NetworkPush& push) const;
  void backward(Recording& to, const LayerLayout& layer) const;
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
  Array<NetworkArguments> arguments_;
  Array<float> coefficients_, activations_, sums_, parts_, scores_;
  std::array<Array<float>, 2> gradients_;
  Array<float> seen_;  ///< whether all was finite, then the parts of the loss
  Array<std::uint32_t> words_;
  Array<BatchCase> host_batch_, batch_;
  std::array<std::unique_ptr<BufferSet>, 2> sets_;
};

/// Samples that an evaluation takes at a time on this device.
std::int64_t evaluation_samples(const Context& context, const NetworkLayout& layout,
                                std::int64_t cases);

}  // namespace boolgrad::vulkan
