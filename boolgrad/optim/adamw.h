// AdamW: Adam with decoupled weight decay (Loshchilov, Hutter: Decoupled Weight Decay
// Regularization, 2019).
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/options/adamw.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The state of the optimiser. Copies share the moments.
struct AdamWState {
  std::int64_t step = 0;       ///< number of steps taken
  std::vector<Tensor> first;   ///< running means of the gradients, one per parameter
  std::vector<Tensor> second;  ///< running means of the squared gradients, one per parameter
};

/// The AdamW optimiser. It updates parameters in place.
class AdamW {
 public:
  /// An optimiser for `parameters`, which must be float32 or float64.
  AdamW(std::vector<Tensor> parameters, const AdamWOptions& options);

  /// Takes one step with one gradient per parameter, after clipping and noise according to the
  /// options. An undefined gradient counts as zero.
  void step(const std::vector<Tensor>& gradients, double learning_rate);

  /// Sets the number of steps taken, which the bias correction uses.
  void set_step(std::int64_t step) { state_.step = step; }

  /// The hyperparameters.
  const AdamWOptions& options() const { return options_; }
  /// The current state, to be saved.
  const AdamWState& state() const { return state_; }
  /// Continues from a saved state. Throws if its shapes do not match the parameters.
  void restore(const AdamWState& state);

 private:
  std::vector<Tensor> prepared(std::vector<Tensor> gradients) const;

  std::vector<Tensor> parameters_;
  AdamWOptions options_;
  AdamWState state_;
};

}  // namespace boolgrad
