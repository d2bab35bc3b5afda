// The buffers and the dispatches of one use of an automaton: training, or rollouts of soft or of
// hardened gates. Inside of `vulkan/`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boolgrad/backend/plan/automaton_cells.h"
#include "boolgrad/backend/plan/automaton_tiles.h"
#include "boolgrad/backend/vulkan/automaton/placement.h"
#include "boolgrad/backend/vulkan/runtime/commands.h"
#include "boolgrad/backend/vulkan/runtime/memory.h"

namespace boolgrad::vulkan {

/// What all uses of an automaton share.
struct AutomatonParameters {
  Array<float> values, gradients, moments;
  Array<float> masks;  ///< of all gates, then which gates are frozen
  /// How many groups of training and of the hard rollout next to it have arrived where they wait
  /// for one another, and whether they gave up.
  Array<std::uint32_t> waiting, waiting_beside;
  std::vector<Shape> shapes;
};

class AutomatonProgram {
 public:
  AutomatonProgram(Context& context, const AutomatonShape& shape, RolloutUse use,
                   std::int64_t samples, const AutomatonParameters& parameters);

  /// Starts, fire masks and targets, where they are given. Returns whether what was recorded before
  /// must be recorded again.
  [[nodiscard]] bool set_inputs(const AutomatonInputs& inputs);

  /// What the next run reads. Where `steps()` or `hardening()` are then others, what was recorded
  /// before is not for that run.
  void set_draws(const AutomatonDraws& draws);
  int steps() const { return sizes_.steps; }
  HardeningKind hardening() const { return hardening_; }
  void set_update(const AdamWOptions& options, std::int64_t step, double learning_rate);

  // Dispatches. The caller puts barriers between those that need what others wrote.
  void prepare(Recording& to) const;  ///< coefficients, and starts that are drawn
  void forward(Recording& to, int step) const;
  /// Whether one dispatch takes all steps, forward and back or, of a hard rollout, forward; where
  /// it does not, `forward` and `backward` do.
  bool takes_all_steps() const { return takes_all_steps_ && context_.groups_wait(); }
  void all_steps(Recording& to) const;
  /// Whether the state after a step has a loss or, of a hard rollout, errors that count.
  bool has_score(int step) const { return step + loss_steps() >= sizes_.steps; }
  void score(Recording& to, int step) const;
  /// All steps back, with barriers between them and at the end.
  void backward(Recording& to) const;
  void gather(Recording& to) const;  ///< the sums of all groups
  void finish(Recording& to) const;  ///< from those to gradients of logits
  void update(Recording& to) const;

  // What the last run left.
  double loss() const;
  HardOutcome outcome() const;
  bool was_finite() const { return finite_.shared()[0] != 0; }
  /// Whether groups waited for one another without success: nothing was computed.
  bool gave_up() const { return finite_.shared()[1] != 0; }
  /// The state after a number of steps, [channels, samples, height, width]: of floats, or of bits.
  Tensor state(std::int64_t step) const;

 private:
  void cut_work();
  void set_steps(std::int64_t steps);
  std::int64_t max_steps() const;   ///< that a rollout may have
  std::int64_t loss_steps() const;  ///< last states of the current one that have a loss
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
  void dispatch_list(Recording& to, const std::string& shader, std::int64_t items,
                     const AutomatonPush& push) const;

  Context& context_;
  const AutomatonShape& shape_;
  const AutomatonParameters& parameters_;
  RolloutUse use_;
  std::int64_t samples_;
  AutomatonLimits limits_;
  AutomatonLayout layout_;
  AutomatonPush sizes_{};
  int tiles_ = 0;
  bool keeps_activations_ = false;
  bool takes_all_steps_ = false;
  HardeningKind hardening_ = HardeningKind::none;
  bool fire_is_given_ = false;
  Array<AutomatonArguments> arguments_;
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
