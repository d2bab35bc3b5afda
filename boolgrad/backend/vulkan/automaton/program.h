// Buffers and dispatches for one use of an automaton: training, or rollouts of soft or hardened
// gates. Internal to `vulkan/`.
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

/// State shared by all uses of an automaton.
struct AutomatonParameters {
  Array<float> values, gradients, moments;
  Array<float> masks;  ///< one per gate, then the frozen flags
  /// Barrier counters for training and for the concurrent hard rollout, and whether workgroups gave
  /// up.
  Array<std::uint32_t> waiting, concurrent_waiting;
  std::vector<Shape> shapes;
};

class AutomatonProgram {
 public:
  AutomatonProgram(Context& context, const AutomatonShape& shape, RolloutUse use,
                   std::int64_t samples, const AutomatonParameters& parameters);

  /// Start states, fire masks and targets, if defined. Returns whether commands must be recorded
  /// again.
  [[nodiscard]] bool set_inputs(const AutomatonInputs& inputs);

  /// Arguments of the next run. If this changes `steps()` or `hardening()`, commands recorded
  /// before do not apply to that run.
  void set_draws(const RolloutArguments& draws);
  int steps() const { return sizes_.steps; }
  HardeningKind hardening() const { return hardening_; }
  void set_update(const AdamWOptions& options, std::int64_t step, double learning_rate);

  // Dispatches. The caller adds barriers between dependent ones.
  void prepare(CommandRecorder& to) const;  ///< coefficients, and random start states
  void forward(CommandRecorder& to, int step) const;
  /// Whether one dispatch takes all steps: forward and backward or, for a hard rollout, forward.
  /// Otherwise use `forward` and `backward`.
  bool takes_all_steps() const { return takes_all_steps_ && context_.groups_wait(); }
  void all_steps(CommandRecorder& to) const;
  /// Whether the state after a step contributes to the loss or, for a hard rollout, to the errors.
  bool has_score(int step) const { return step + loss_steps() >= sizes_.steps; }
  void score(CommandRecorder& to, int step) const;
  /// The whole backward pass, with barriers between its steps and at the end.
  void backward(CommandRecorder& to) const;
  void gather(CommandRecorder& to) const;  ///< sums over all workgroups
  void finish(CommandRecorder& to) const;  ///< gradients of the logits
  void update(CommandRecorder& to) const;

  // Results of the last run.
  double loss() const;
  HardErrors outcome() const;
  bool was_finite() const { return finite_.shared()[0] != 0; }
  /// Whether workgroups gave up waiting for each other. Nothing was computed then.
  bool gave_up() const { return finite_.shared()[1] != 0; }
  /// The state after `step` steps, [channels, samples, height, width]: floats, or bits.
  Tensor state(std::int64_t step) const;

 private:
  void cut_work();
  void set_steps(std::int64_t steps);
  std::int64_t max_steps() const;   ///< maximum length of a rollout
  std::int64_t loss_steps() const;  ///< number of final states of the current rollout with a loss
  void allocate();
  void bind();
  std::vector<std::uint32_t> wire_words() const;
  std::vector<std::uint32_t> table_words() const;
  std::vector<std::uint32_t> around_masks() const;
  void upload(Array<std::uint32_t>& to, const Tensor& grid) const;

  int state_at(std::int64_t step) const;
  AutomatonPush push_for(int step) const;
  void forward(CommandRecorder& to, int step, bool keeps) const;
  void backward(CommandRecorder& to, int step) const;
  /// A shader by name; the variant depends on whether its work memory of `rows` fits in shared
  /// memory.
  VkPipeline tile_pipeline(std::string shader, int rows) const;
  VkPipeline pipeline(const std::string& shader, int threads, int work_rows) const;
  void dispatch_tiles(CommandRecorder& to, VkPipeline pipeline, AutomatonPush push,
                      bool is_back) const;
  void dispatch_list(CommandRecorder& to, const std::string& shader, std::int64_t items) const;
  void dispatch_list(CommandRecorder& to, const std::string& shader, std::int64_t items,
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
  Array<float> host_loss_;
  Array<ErrorWord> errors_;
  Array<std::uint32_t> finite_;  ///< whether all values were, and whether workgroups gave up
  std::unique_ptr<BufferSet> set_;
};

/// Memory needed for training on a device with these limits, in bytes.
std::size_t training_bytes(const AutomatonLimits& limits, const AutomatonShape& shape);
/// Whether the device allows the largest buffer.
bool buffers_are_allowed(const AutomatonLimits& limits, const AutomatonShape& shape);

}  // namespace boolgrad::vulkan
