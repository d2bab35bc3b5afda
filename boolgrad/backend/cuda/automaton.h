// Automata on an NVIDIA GPU: training steps and rollouts, each in one launch.
//
// No header of the vendor is included here, so that rooms above need not know whether the backend
// was built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/backend/cuda/forms.h"
#include "boolgrad/backend/cuda/optimiser.h"
#include "boolgrad/backend/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cuda {

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
  bool periodic = false;
  bool softmax = true;  ///< 16 logits a gate; else 4, each a sigmoid's
  LossForm loss = LossForm::squares;
  double focal_gamma = 2;
  std::int64_t keep_every = 1;    ///< states are kept for the backward every so many steps
  bool keep_activations = false;  ///< everything is kept; `keep_every` is 1 then
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;

  std::int64_t cells() const { return batch * height * width; }
};

/// Whether the device could keep activations without anybody waiting for it, and has memory enough.
bool keeps_while_going_on(AutomatonShape shape);

/// What is drawn, at the addresses where the host draws the same.
struct AutomatonDraws {
  std::uint64_t seed = 0;
  std::uint32_t draw = 0;
  std::int64_t samples = 0;    ///< drawn at once, of which a rollout may take the first; 0: its own
  bool random_starts = false;  ///< else those that were given
  std::uint32_t start_stream = 0;
  double fire_rate = 1;
  std::uint32_t fire_stream = 0;
  HardForm hard = HardForm::none;
  double share = 0;  ///< how hard
  std::uint32_t hard_stream = 0;
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

/// A rule of two-input gates with all that training needs, on the device.
///
/// Everything is deterministic: gradients are gathered, never added up by chance, and a device
/// gives the same bits on every run.
class Automaton {
 public:
  explicit Automaton(const AutomatonShape& shape, const OptimiserOptions& options = {});
  ~Automaton();
  Automaton(const Automaton&) = delete;
  Automaton& operator=(const Automaton&) = delete;

  /// Logits a layer, in float32; masks of its gates.
  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks);
  /// Writes the logits into `logits`.
  void get_parameters(std::span<Tensor> logits) const;
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second);
  void get_moments(std::span<Tensor> first, std::span<Tensor> second) const;

  /// What training steps read. Undefined parts stay as they are.
  void set_inputs(const AutomatonInputs& inputs);

  /// Loss and gradients, which `logit_gradients` and `states` then fetch.
  double gradients(const AutomatonDraws& draws);
  std::vector<Tensor> logit_gradients() const;
  /// [steps + 1, channels, batch, height, width]; needs `keep_every` to be 1.
  Tensor states() const;

  /// One step of training; with a rollout of the hardened rule beside it if `with_hard`.
  AutomatonOutcome step(const AutomatonDraws& draws, std::int64_t step, double learning_rate,
                        bool with_hard = false);

  /// Where soft gates lead `samples` grids: the loss, and the last state in `last`.
  double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                      const AutomatonDraws& draws, Tensor& last);

  /// Where hardened ones lead them, on words of 32 samples.
  HardOutcome hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                           const AutomatonDraws& draws);
  /// The last state of the last hard rollout: uint8 [channels, samples, height, width].
  Tensor hard_state() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Device memory that training takes.
std::size_t training_bytes(const AutomatonShape& shape);

}  // namespace boolgrad::cuda
