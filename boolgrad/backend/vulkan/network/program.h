// The buffers and the dispatches of a gate network on so many samples at a time. Inside of
// `vulkan/`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/commands.h"
#include "boolgrad/backend/vulkan/runtime/memory.h"
#include "boolgrad/backend/vulkan/network/arguments.h"
#include "boolgrad/backend/vulkan/network/placement.h"

namespace boolgrad::vulkan {

/// What training and evaluation of a network share: its parameters and its cases.
struct NetworkMemory {
  Array<std::int32_t> wires;
  Array<float> logits, masks, gradients, moments;
  Array<NetworkInput> inputs;
  Array<std::uint32_t> data, targets;
  std::int64_t cases = 0;
  DataForm form = DataForm::rows;
  std::int64_t features = 0;
  bool has_pictures = false;
  std::int64_t height = 1;
  std::int64_t width = 1;
};

struct NetworkShader;

/// Refuses a buffer that is larger than the device allows.
void check_buffer(const Context& context, std::size_t bytes);

class NetworkProgram {
 public:
  enum class Use : std::uint8_t { training, evaluation };

  /// The plan, the places and the memory outlive it. `samples` is the most that it takes at a time.
  NetworkProgram(Context& context, const NetworkPlan& plan, const NetworkPlaces& places,
                 const NetworkMemory& memory, Use use, std::int64_t samples);

  /// The cases that the next run takes, at most as many as there is room for. Where their number
  /// is another, what was recorded before must be recorded again.
  void pick(std::span<const std::int64_t> cases, std::span<const ImageShift> moves = {});
  void set_hard_share(double share) { numbers_.shared()[0].share = static_cast<float>(share); }
  void set_update(std::int64_t step, double learning_rate) {
    numbers_.shared()[0].update = update_arguments(plan_.optimiser, step, learning_rate);
  }

  // Dispatches, in this order, with barriers between them and at the end.
  void gather(Recording& to) const;  ///< inputs, and tables of soft gates
  void forward(Recording& to) const;
  void judge(Recording& to) const;  ///< the loss and, of training, its gradient
  void backward(Recording& to) const;
  void update(Recording& to) const;
  void harden(Recording& to) const;   ///< the hardened circuit on the inputs that were gathered
  void compare(Recording& to) const;  ///< what `judge` and `harden` left with what is wanted

  std::int64_t samples() const { return sizes_.samples; }  ///< of the next run

  // What the last run left.
  double loss() const;
  bool was_finite() const { return seen_.shared()[0] != 0; }
  std::span<const NetworkMistakes> mistakes() const;
  Tensor outputs(std::size_t layer) const;  ///< float32 [gates, samples]
  /// Words of the outputs of the hardened circuit, [outputs, words].
  std::vector<std::uint32_t> hard_outputs() const;

 private:
  void allocate(std::int64_t samples);
  std::unique_ptr<BufferSet> bound(std::size_t turn) const;
  NetworkPush push_for(const PlacedLayer& layer) const;
  /// The buffers with the gradients of a layer's outputs and of its inputs, two that take turns.
  const BufferSet& set_for(const PlacedLayer& layer) const;
  /// So many groups of a shader on a layer, each with the work of so many gates of samples.
  void dispatch(Recording& to, const NetworkShader& shader, const PlacedLayer& layer,
                NetworkPush push, std::int64_t groups, double gates_a_group = 0) const;
  /// A thread an item.
  void dispatch_items(Recording& to, const NetworkShader& shader, const PlacedLayer& layer,
                      const NetworkPush& push, std::int64_t items, double gates_an_item = 0) const;
  std::int64_t words() const { return (sizes_.samples + 31) / 32; }
  std::int64_t loss_parts() const;
  std::int64_t class_parts() const { return std::int64_t{sizes_.classes} * sizes_.class_parts; }

  Context& context_;
  const NetworkPlan& plan_;
  const NetworkPlaces& places_;
  const NetworkMemory& memory_;
  Use use_;
  double gates_a_submission_;
  std::uint32_t lanes_ = 1;
  NetworkPush sizes_{};
  Array<NetworkNumbers> numbers_;
  Array<float> coefficients_, activations_, sums_, parts_, scores_;
  std::array<Array<float>, 2> gradients_;
  Array<float> seen_;  ///< whether all was finite, then the parts of the loss
  Array<std::uint32_t> words_;
  Array<PickedCase> host_picked_, picked_;
  Array<NetworkMistakes> mistakes_;
  std::array<std::unique_ptr<BufferSet>, 2> sets_;
};

/// Samples that an evaluation takes at a time on this device.
std::int64_t evaluation_samples(const Context& context, const NetworkPlaces& places,
                                std::int64_t cases);

}  // namespace boolgrad::vulkan
