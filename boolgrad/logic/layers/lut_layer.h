// The dense layer of look-up tables: every gate reads any of the layer's inputs.
#pragma once

#include "boolgrad/logic/layers/layer.h"
#include "boolgrad/logic/network.h"

namespace boolgrad {

class LutLayer final : public Layer {
 public:
  /// Logits are copied.
  LutLayer(WiringPtr wiring, Parametrisation parametrisation, const Tensor& logits);

  std::int64_t inputs() const override { return network_.inputs(); }
  std::int64_t outputs() const override { return network_.outputs(); }
  std::vector<Tensor> parameters() const override { return network_.parameters(); }
  Tensor soft(const Tensor& x) const override { return network_.soft(x); }
  Tensor hard(const Tensor& x) const override;
  std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const override;

  /// Gates that are 0 in `mask` [gates] are switched off.
  void set_mask(const Tensor& mask) { network_.set_mask(0, mask); }

 private:
  LogicNetwork network_;
};

extern const LayerKind lut_layer_kind;

}  // namespace boolgrad
