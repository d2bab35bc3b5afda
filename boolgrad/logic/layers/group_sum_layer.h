// The group-sum layer: the number of ones in each of several equal groups of bits.
#pragma once

#include "boolgrad/logic/layers/layer.h"

namespace boolgrad::logic {

/// Sums over consecutive groups of inputs of equal size.
class GroupSumLayer final : public Layer {
 public:
  /// Throws if `groups` does not divide `inputs`.
  GroupSumLayer(std::int64_t inputs, std::int64_t groups);

  std::int64_t inputs() const override { return inputs_; }
  std::int64_t outputs() const override { return groups_; }
  int output_digits() const override;
  Tensor soft(const Tensor& x) const override;
  Tensor hard(const Tensor& x) const override;
  std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const override;

 private:
  std::int64_t inputs_;
  std::int64_t groups_;
};

/// The row of this layer in the table of layer kinds.
extern const LayerKind group_sum_layer_kind;

}  // namespace boolgrad::logic
