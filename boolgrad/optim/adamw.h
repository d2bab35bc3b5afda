// AdamW: Adam with decoupled weight decay (Loshchilov, Hutter: Decoupled Weight Decay
// Regularization, 2019).
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/backend/options/adamw.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Moments of every parameter. A plain value: copying it copies the handles, `clone` the moments.
struct AdamWState {
  std::int64_t step = 0;
  std::vector<Tensor> first;   ///< running means of the gradients
  std::vector<Tensor> second;  ///< running means of their squares
};

/// Updates parameters in place from the gradients at them.
class AdamW {
 public:
  AdamW(std::vector<Tensor> parameters, const AdamWOptions& options);

  /// One step with `gradients` (one per parameter; an undefined one counts as zero), clipped and
  /// with noise as the options say.
  void step(const std::vector<Tensor>& gradients, double learning_rate);

  /// Goes on as if `step` steps had been taken.
  void set_step(std::int64_t step) { state_.step = step; }

  const AdamWOptions& options() const { return options_; }
  const AdamWState& state() const { return state_; }
  /// Continues from a saved state. Refuses one of other shapes.
  void restore(const AdamWState& state);

 private:
  std::vector<Tensor> prepared(std::vector<Tensor> gradients) const;

  std::vector<Tensor> parameters_;
  AdamWOptions options_;
  AdamWState state_;
};

}  // namespace boolgrad
