// Training programs of automata: a rule with its optimiser and grids on a device.
//
// CUDA and Vulkan implement `DeviceAutomaton` in `backend/`, the CPU in
// `automata/host_automaton.h`, where the tape is. No vendor header is included here, so that
// modules below need not know which backends were built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/device/device.h"
#include "boolgrad/backend/device/program.h"
#include "boolgrad/backend/options/adamw.h"
#include "boolgrad/backend/options/border.h"
#include "boolgrad/backend/options/hardening.h"
#include "boolgrad/backend/options/loss.h"
#include "boolgrad/backend/options/memory.h"
#include "boolgrad/backend/options/parametrisation.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Sizes of an automaton and of its rollout. `perceive` is all kernels stacked, over nine inputs,
/// gate g of kernel k at g * kernels + k.
struct AutomatonShape {
  std::int64_t channels = 0;
  std::int64_t kernels = 1;
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t steps = 0;        ///< of a training rollout at most, and of evaluations
  std::int64_t extra_steps = 0;  ///< that a training rollout may have more
  std::int64_t loss_channels = 0;
  std::int64_t loss_steps = 1;  ///< last states that the training loss is summed over
  Border border = Border::zero;
  Parametrisation parametrisation = Parametrisation::softmax16;
  LossOptions loss = {};
  /// Added to the training loss: this times the sum over gates of how much each depends on both its
  /// inputs: of a masked soft table t, with a = ((t1 - t0)^2 + (t3 - t2)^2) / 2 and
  /// b = ((t2 - t0)^2 + (t3 - t1)^2) / 2, the product a b.
  double gate_penalty = 0;
  Memory memory = {};
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;

  std::int64_t cells() const { return batch * height * width; }
  std::int64_t most_steps() const { return steps + extra_steps; }
  bool periodic() const { return border == Border::periodic; }
  /// Whether every activation is kept; else states are, every so many steps.
  bool keeps_activations() const { return memory.policy == MemoryPolicy::everything; }
  std::int64_t keep_every() const {
    return memory.policy == MemoryPolicy::some_states ? memory.every : 1;
  }
};

/// What a rollout draws, at the addresses where the host draws the same, and how it runs.
struct AutomatonDraws {
  std::uint64_t seed = 0;
  std::uint32_t draw = 0;
  std::int64_t samples = 0;    ///< drawn at once, of which a rollout may take the first; 0: its own
  bool random_starts = false;  ///< else those that were given
  std::uint32_t start_stream = 0;
  double fire_rate = 1;
  std::uint32_t fire_stream = 0;
  std::int64_t steps = 0;  ///< of a training rollout; 0: as many as the shape says
  HardeningStep hardening = {};
  /// Of `HardeningKind::freeze`, as in `NetworkStepArguments`.
  std::span<const Tensor> frozen = {};
};

/// What starts, fires and is the target, where it is given: float32 or uint8 [channels, samples,
/// height, width], uint8 [steps, samples, height, width], [loss channels, samples or 1, height,
/// width].
struct AutomatonInputs {
  Tensor starts;
  Tensor fire;
  Tensor target;
};

/// Bits that a hardened rule got wrong, and the samples that have some.
struct HardOutcome {
  std::int64_t wrong_bits = 0;
  std::int64_t wrong_samples = 0;
};

struct AutomatonOutcome {
  double loss = 0;
  bool finite = true;  ///< loss and gradients; where they were not, nothing was updated
  HardOutcome hard;    ///< of the same starts, before the update, where it was asked for
};

/// A rule of two-input gates with all that training needs.
///
/// Everything is deterministic: gradients are gathered, never scattered with atomics, and a device
/// gives the same bits on every run.
class DeviceAutomaton : public DeviceProgram {
 public:
  /// One tensor of logits per layer; masks of its gates.
  virtual void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) = 0;

  /// What training steps read. Undefined parts stay as they are.
  virtual void set_inputs(const AutomatonInputs& inputs) = 0;

  /// Loss and gradients, which `parameter_gradients` and `states` then fetch.
  virtual double gradients(const AutomatonDraws& draws) = 0;
  /// Of the last training rollout: [steps + 1, channels, batch, height, width]; needs the state of
  /// every step to be kept.
  virtual Tensor states() const = 0;
  /// The last of them: [channels, batch, height, width].
  virtual Tensor final_state() const = 0;

  /// One step of training; with a rollout of the hardened rule from the same starts if `with_hard`.
  virtual AutomatonOutcome step(const AutomatonDraws& draws, std::int64_t step,
                                double learning_rate, bool with_hard) = 0;

  /// Where soft gates lead `samples` grids: the loss of the last state, and that state in `last`.
  virtual double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                              const AutomatonDraws& draws, Tensor& last) = 0;

  /// Where hardened gates lead them, on words of samples.
  virtual HardOutcome hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                                   const AutomatonDraws& draws) = 0;
  /// The last state of the last hard rollout: uint8 [channels, samples, height, width].
  virtual Tensor hard_state() const = 0;
};

/// `shape` with the fastest memory policy that `device`, which is not the CPU, has memory for.
AutomatonShape with_fastest_memory(const Device& device, AutomatonShape shape);

/// An automaton on `device`, which is not the CPU. Says why where it is not there.
std::unique_ptr<DeviceAutomaton> make_device_automaton(const Device& device,
                                                       const AutomatonShape& shape,
                                                       const AdamWOptions& options = {});

}  // namespace boolgrad
