// The buffers and the dispatches of one use of an automaton: training, or rollouts of soft or of
// hardened gates. Inside of `vulkan/`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boolgrad/backend/plan/automaton_cells.h"
#include "boolgrad/backend/vulkan/automaton/placement.h"
#include "boolgrad/backend/vulkan/runtime/commands.h"
#include "boolgrad/backend/vulkan/runtime/memory.h"

namespace boolgrad::vulkan {

enum class Use : std::uint8_t { training, soft, hard };

/// What all uses of an automaton share.
struct AutomatonParameters {
  Array<float> logits, masks, gradients, moments;
  /// How many groups of training and of the hard rollout beside it have arrived where they wait for
  /// one another, and whether they gave up.
  Array<std::uint32_t> waiting, waiting_beside;
  std::vector<Shape> logit_shapes;
};

class AutomatonProgram {
 public:
  AutomatonProgram(Context& context, const AutomatonShape& shape, Use use, std::int64_t samples,
                   const AutomatonParameters& parameters);

  /// Starts, who fires and what is wanted, where it is given. What was recorded before must be
  /// recorded again.
  void set_inputs(const AutomatonInputs& inputs);

  /// The numbers that the next run reads.
  void set_draws(const AutomatonDraws& draws);
  void set_update(const AdamWOptions& options, std::int64_t step, double learning_rate);

  // Dispatches. Whoever records puts barriers between those that need what others wrote.
  void prepare(Recording& to) const;  ///< coefficients, and starts that are drawn
  void forward(Recording& to, int step) const;
  /// Whether one dispatch takes all steps, forward and back or, of a hard rollout, forward; where
  /// it does not, `forward` and `backward` do.
  bool takes_all_steps() const { return takes_all_steps_ && context_.groups_wait(); }
  void all_steps(Recording& to) const;
  void judge(Recording& to) const;  ///< the loss, or wrong bits
  /// All steps back, with barriers between them and at the end.
  void backward(Recording& to) const;
  void gather(Recording& to) const;  ///< the sums of all groups
  void finish(Recording& to) const;  ///< from those to gradients of logits
  void update(Recording& to) const;

  // What the last run left.
  double loss() const;
  HardOutcome outcome() const;
  bool was_finite() const { return finite_.shared()[0] != 0; }
  /// Whether groups waited for one another in vain: nothing was computed.
  bool gave_up() const { return finite_.shared()[1] != 0; }
  /// The state after so many steps, [channels, samples, height, width]: of floats, or of bits.
  Tensor state(std::int64_t step) const;

 private:
  void cut_work();
  void allocate();
  void bind();
  std::vector<std::uint32_t> wire_words() const;
  std::vector<std::uint32_t> table_words() const;
  std::vector<std::uint32_t> around_masks() const;
  void upload(Array<std::uint32_t>& to, const Tensor& grid) const;

  int state_at(std::int64_t step) const;
  AutomatonPush push_for(int step) const;
  void forward(Recording& to, int step, bool keeps) const;
  void backward(Recording& to, int step) const;
  /// A shader by its name, and by whether its work memory of `rows` fits into shared memory.
  VkPipeline tile_pipeline(std::string shader, int rows) const;
  VkPipeline pipeline(const std::string& shader, int threads, int work_rows) const;
  void dispatch_tiles(Recording& to, VkPipeline pipeline, AutomatonPush push, bool is_back) const;
  void dispatch_list(Recording& to, const std::string& shader, std::int64_t items) const;

  Context& context_;
  const AutomatonShape& shape_;
  const AutomatonParameters& parameters_;
  Use use_;
  std::int64_t samples_;
  AutomatonLimits limits_;
  AutomatonPlaces places_;
  AutomatonPush sizes_{};
  int tiles_ = 0;
  bool keeps_activations_ = false;
  bool takes_all_steps_ = false;
  bool fire_is_given_ = false;
  Array<AutomatonNumbers> numbers_;
  Array<std::uint32_t> wires_, table_, around_, states_, target_;
  Array<std::uint8_t> fire_;
  Array<float> coefficients_, acts_, read_, sums_, scratch_, parts_, loss_parts_;
  Array<float> seen_loss_;
  Array<WrongWord> seen_wrong_;
  Array<std::uint32_t> finite_;  ///< whether all was, and whether groups gave up
  std::unique_ptr<BufferSet> set_;
};

/// Bytes that training takes on a device with these limits.
std::size_t training_bytes(const AutomatonLimits& limits, const AutomatonShape& shape);
/// Whether the largest buffer is one that the device allows.
bool buffers_are_allowed(const AutomatonLimits& limits, const AutomatonShape& shape);

}  // namespace boolgrad::vulkan
