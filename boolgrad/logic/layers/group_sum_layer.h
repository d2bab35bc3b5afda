// The layer of group sums: how many outputs of each of several equal groups are 1.
#pragma once

#include "boolgrad/logic/layers/layer.h"

namespace boolgrad {

class GroupSumLayer final : public Layer {
 public:
  /// Refuses inputs that do not fall into equal groups.
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

extern const LayerKind group_sum_layer_kind;

}  // namespace boolgrad
