// Training programs of cellular automata: a rule with its optimiser and grids on a device.
//
// CUDA and Vulkan implement `DeviceAutomaton` in `backend/`, the CPU implements it with the tape in
// `automata/host_automaton.h`. This header includes no vendor header: other modules need not know
// which backends were built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/device/program.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/options/adamw.h"
#include "boolgrad/options/border.h"
#include "boolgrad/options/device.h"
#include "boolgrad/options/hardening.h"
#include "boolgrad/options/loss.h"
#include "boolgrad/options/memory.h"
#include "boolgrad/options/parametrisation.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The sizes of an automaton and of its rollouts. `perceive` stacks all kernels over nine inputs:
/// gate g of kernel k has index g * kernels + k.
struct AutomatonShape {
  std::int64_t channels = 0;
  std::int64_t kernels = 1;
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t steps = 0;          ///< steps of a rollout
  std::int64_t extra_steps = 0;    ///< additional steps that a training rollout may have
  std::int64_t loss_channels = 0;  ///< leading channels that the loss reads
  std::int64_t loss_steps = 1;     ///< number of final states in the training loss
  Border border = Border::zero;
  Parametrisation parametrisation = Parametrisation::softmax16;
  LossOptions loss = {};
  /// Weight of a penalty on gates that depend on both inputs, added to the training loss. The
  /// penalty of a masked soft table t is a b, with a = ((t1 - t0)^2 + (t3 - t2)^2) / 2 and b = ((t2
  /// - t0)^2 + (t3 - t1)^2) / 2.
  double gate_penalty = 0;
  Memory memory = {};
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;

  std::int64_t cells() const { return batch * height * width; }
  std::int64_t max_steps() const { return steps + extra_steps; }
  bool periodic() const { return border == Border::periodic; }
  /// Whether every activation is kept. Otherwise every `keep_every()`-th state is.
  bool keeps_activations() const { return memory.policy == MemoryPolicy::everything; }
  std::int64_t keep_every() const {
    return memory.policy == MemoryPolicy::some_states ? memory.every : 1;
  }
};

/// The arguments of a rollout. Random numbers have the same addresses on every device.
struct RolloutArguments {
  std::uint64_t seed = 0;
  std::uint32_t random_step = 0;
  std::int64_t samples = 0;    ///< samples of the random addresses; 0: those of the rollout
  bool random_starts = false;  ///< random initial states instead of given ones
  std::uint32_t start_stream = 0;
  double fire_rate = 1;
  std::uint32_t fire_stream = 0;
  std::int64_t steps = 0;  ///< steps of a training rollout; 0: as in the shape
  HardeningStep hardening = {};
  /// For `HardeningKind::freeze`, as in `NetworkStepArguments`.
  std::span<const Tensor> frozen = {};
};

/// The data of a rollout. Each tensor may be undefined.
struct AutomatonInputs {
  Tensor starts;  ///< initial states: float32 or uint8 [channels, samples, height, width]
  Tensor fire;    ///< fire masks: uint8 [steps, samples, height, width]
  /// [loss channels, samples or 1, height, width]. What is `any_value` has no loss; errors of
  /// hardened rules count it all the same.
  Tensor target;
};

/// The errors of a hardened rule.
struct HardErrors {
  std::int64_t bits = 0;     ///< wrong bits
  std::int64_t samples = 0;  ///< samples with at least one wrong bit
};

/// The result of a training step.
struct AutomatonOutcome {
  double loss = 0;
  bool finite = true;  ///< whether loss and gradients were finite; otherwise nothing was updated
  HardErrors hard;     ///< errors of the hardened rule before the update, if requested
};

/// A training program for a rule of two-input gates.
///
/// Results are deterministic: gradients are gathered, never scattered with atomics. A device gives
/// the same bits on every run.
class DeviceAutomaton : public DeviceProgram {
 public:
  /// Sets one tensor of logits and one gate mask per layer.
  virtual void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) = 0;

  /// Sets the data of training steps. Undefined tensors leave the current data unchanged.
  virtual void set_inputs(const AutomatonInputs& inputs) = 0;

  /// Computes the gradients and returns the loss. `parameter_gradients` and `states` read the
  /// results.
  virtual double gradients(const RolloutArguments& arguments) = 0;
  /// All states of the last training rollout: [steps + 1, channels, batch, height, width]. Requires
  /// a memory policy that keeps every state.
  virtual Tensor states() const = 0;
  /// The final state of the last training rollout: [channels, batch, height, width].
  virtual Tensor final_state() const = 0;

  /// Takes a training step. If `with_hard`, also rolls out the hardened rule from the same states.
  virtual AutomatonOutcome step(const RolloutArguments& arguments, std::int64_t step,
                                double learning_rate, bool with_hard) = 0;

  /// Rolls out the soft rule. Returns the loss of the final state and stores that state in `last`.
  virtual double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                              const RolloutArguments& arguments, Tensor& last) = 0;

  /// Rolls out the hardened rule and returns its errors.
  virtual HardErrors hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                                  const RolloutArguments& arguments) = 0;
  /// The final state of the last hard rollout: uint8 [channels, samples, height, width].
  virtual Tensor hard_state() const = 0;
};

/// `shape` with the fastest memory policy that fits on `device`, which must be a GPU.
AutomatonShape with_fastest_memory(const Device& device, AutomatonShape shape);

/// Creates a training program on `device`, which must be a GPU. Throws if it is not available.
std::unique_ptr<DeviceAutomaton> make_device_automaton(const Device& device,
                                                       const AutomatonShape& shape,
                                                       const AdamWOptions& options = {});

}  // namespace boolgrad
