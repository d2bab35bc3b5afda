// Automata on a device: training steps and rollouts, whichever device it is.
//
// No header of a vendor is included here, so that rooms above need not know which backends were
// built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/device/device.h"
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
  std::int64_t steps = 0;
  std::int64_t loss_channels = 0;
  Border border = Border::zero;
  Parametrisation parametrisation = Parametrisation::softmax16;
  LossOptions loss = {};
  Memory memory = {};
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;

  std::int64_t cells() const { return batch * height * width; }
  bool periodic() const { return border == Border::periodic; }
  /// Whether every activation is kept; else states are, every so many steps.
  bool keeps_activations() const { return memory.policy == MemoryPolicy::everything; }
  std::int64_t keep_every() const {
    return memory.policy == MemoryPolicy::some_states ? memory.every : 1;
  }
};

/// What is drawn, at the addresses where the host draws the same.
struct AutomatonDraws {
  std::uint64_t seed = 0;
  std::uint32_t draw = 0;
  std::int64_t samples = 0;    ///< drawn at once, of which a rollout may take the first; 0: its own
  bool random_starts = false;  ///< else those that were given
  std::uint32_t start_stream = 0;
  double fire_rate = 1;
  std::uint32_t fire_stream = 0;
  HardeningStep hardening = {};
};

/// What starts, fires and is wanted, where it is given: float32 or uint8 [channels, samples,
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

/// A rule of two-input gates with all that training needs, on a device.
///
/// Everything is deterministic: gradients are gathered, never added up by chance, and a device
/// gives the same bits on every run.
class DeviceAutomaton {
 public:
  DeviceAutomaton() = default;
  virtual ~DeviceAutomaton() = default;
  DeviceAutomaton(const DeviceAutomaton&) = delete;
  DeviceAutomaton& operator=(const DeviceAutomaton&) = delete;

  /// Logits a layer, in float32; masks of its gates.
  virtual void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) = 0;
  /// Writes the logits into `logits`.
  virtual void get_parameters(std::span<Tensor> logits) const = 0;
  virtual void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) = 0;
  virtual void get_moments(std::span<Tensor> first, std::span<Tensor> second) const = 0;

  /// What training steps read. Undefined parts stay as they are.
  virtual void set_inputs(const AutomatonInputs& inputs) = 0;

  /// Loss and gradients, which `logit_gradients` and `states` then fetch.
  virtual double gradients(const AutomatonDraws& draws) = 0;
  virtual std::vector<Tensor> logit_gradients() const = 0;
  /// [steps + 1, channels, batch, height, width]; needs the state of every step to be kept.
  virtual Tensor states() const = 0;

  /// One step of training; with a rollout of the hardened rule beside it if `with_hard`.
  virtual AutomatonOutcome step(const AutomatonDraws& draws, std::int64_t step,
                                double learning_rate, bool with_hard) = 0;

  /// Where soft gates lead `samples` grids: the loss, and the last state in `last`.
  virtual double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                              const AutomatonDraws& draws, Tensor& last) = 0;

  /// Where hardened ones lead them, on words of 32 samples.
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
