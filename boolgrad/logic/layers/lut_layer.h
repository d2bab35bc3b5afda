// The look-up-table layer: every gate may read any input of the layer.
#pragma once

#include "boolgrad/logic/layers/layer.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::logic {

/// A layer of look-up tables with an arbitrary wiring.
class LutLayer final : public Layer {
 public:
  /// `logits` is copied.
  LutLayer(WiringPtr wiring, Parametrisation parametrisation, const Tensor& logits);

  std::int64_t inputs() const override { return network_.inputs(); }
  std::int64_t outputs() const override { return network_.outputs(); }
  std::vector<Tensor> parameters() const override { return network_.parameters(); }
  Tensor soft(const Tensor& x) const override { return network_.soft(x); }
  Tensor hard(const Tensor& x) const override;
  std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const override;

  /// Switches off the gates that are 0 in `mask` [gates].
  void set_mask(const Tensor& mask) { network_.set_mask(0, mask); }

 private:
  Network network_;
};

/// The row of this layer in the table of layer kinds.
extern const LayerKind lut_layer_kind;

}  // namespace boolgrad::logic
