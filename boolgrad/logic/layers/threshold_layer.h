// The layer of thresholds: features as bits.
#pragma once

#include "boolgrad/logic/layers/layer.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad {

/// Bit b is 1 where feature `sources[b]` is above threshold b. As gates it reads features that are
/// bytes, and compares them with constants.
class ThresholdLayer final : public Layer {
 public:
  /// Thresholds [bits] are copied and are the layer's parameter. `widths` [bits] are those of the
  /// sigmoids that the gradient is taken from.
  ThresholdLayer(std::int64_t features, std::vector<std::int32_t> sources, const Tensor& thresholds,
                 const Tensor& widths);

  std::int64_t inputs() const override { return features_; }
  std::int64_t outputs() const override { return static_cast<std::int64_t>(sources_.size()); }
  int input_digits() const override { return 8; }
  std::vector<Tensor> parameters() const override { return {thresholds_}; }
  Tensor soft(const Tensor& x) const override;
  Tensor differentiated(const Tensor& x) const override;
  Tensor hard(const Tensor& x) const override;
  std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const override;

 private:
  std::int64_t features_;
  std::vector<std::int32_t> sources_;
  Tensor thresholds_;
  Tensor widths_;
};

extern const LayerKind threshold_layer_kind;

}  // namespace boolgrad
