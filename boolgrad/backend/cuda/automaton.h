// Automata on an NVIDIA GPU: a whole training step, or its gradients, in one launch.
//
// No header of the vendor is included here, so that rooms above need not know whether the backend
// was built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cuda {

/// Sizes of an automaton and of its rollout. `perceive` is all kernels stacked, over nine inputs.
struct AutomatonShape {
  std::int64_t channels = 0;
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t steps = 0;
  std::int64_t loss_channels = 0;
  bool periodic = false;
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;
};

/// An automaton of two-input gates whose parameters are logits of softmax16, on the device.
class Automaton {
 public:
  Automaton(const AutomatonShape& shape, std::span<const Tensor> logits);
  ~Automaton();
  Automaton(const Automaton&) = delete;
  Automaton& operator=(const Automaton&) = delete;

  /// The loss (the sum of squares over the first channels of the last state) and the gradients of
  /// all logits. `initial` is [channels, cells], `target` [loss channels, cells], both float32;
  /// `fire` uint8 [steps, cells] or undefined.
  double gradients(const Tensor& initial, const Tensor& target, const Tensor& fire);

  /// What the last call left on the device.
  std::vector<Tensor> logit_gradients() const;
  Tensor states() const;  ///< [steps + 1, channels, cells]

  /// Milliseconds of the device for `count` calls of what `gradients` launches, with the inputs of
  /// the last call.
  double milliseconds(int count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace boolgrad::cuda
