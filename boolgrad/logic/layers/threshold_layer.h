// The threshold layer: features to bits.
#pragma once

#include "boolgrad/logic/layers/layer.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad::logic {

/// Bit b is 1 where feature `sources[b]` exceeds threshold b. Its gates compare bytes with
/// constants.
class ThresholdLayer final : public Layer {
 public:
  /// `thresholds` [bits] is copied and becomes the parameter. `widths` [bits] are the widths of the
  /// sigmoids that define the gradient.
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

/// The row of this layer in the table of layer kinds.
extern const LayerKind threshold_layer_kind;

}  // namespace boolgrad::logic
