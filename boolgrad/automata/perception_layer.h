// The layer of perception: kernels of gates that see the neighbourhood of every channel.
#pragma once

#include "boolgrad/automata/rule.h"
#include "boolgrad/logic/layers/layer.h"

namespace boolgrad {

/// Reads nine values per channel (row-major, 4 the cell itself) and gives what the update of a rule
/// reads: the cell's own channels, then for channel c the outputs of all kernels.
class PerceptionLayer final : public Layer {
 public:
  /// `kernels` is a network over nine inputs; it shares its parameters with this layer.
  PerceptionLayer(LogicNetwork kernels, std::int64_t channels);

  std::int64_t inputs() const override;
  std::int64_t outputs() const override;
  std::vector<Tensor> parameters() const override { return kernels_.parameters(); }
  Tensor soft(const Tensor& x) const override;
  Tensor hard(const Tensor& x) const override;
  std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const override;

 private:
  LogicNetwork kernels_;
  std::int64_t channels_;
};

extern const LayerKind perception_layer_kind;

}  // namespace boolgrad
