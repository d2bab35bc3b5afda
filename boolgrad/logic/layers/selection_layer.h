// Learned wires as a layer: the value of every gate input from its candidate sources.
#pragma once

#include "boolgrad/logic/layers/layer.h"
#include "boolgrad/logic/wire_candidates.h"

namespace boolgrad::logic {

/// Selects one of its candidates for every gate input (slot).
class SelectionLayer final : public Layer {
 public:
  /// `logits` is copied.
  SelectionLayer(CandidatesPtr candidates, const Tensor& logits, WireForward forward);

  std::int64_t inputs() const override { return candidates_->inputs(); }
  std::int64_t outputs() const override { return candidates_->slots(); }
  std::vector<Tensor> parameters() const override { return {logits_}; }
  Tensor soft(const Tensor& x) const override;
  /// With a hard forward pass, the derivative is that of the initially best candidates plus the
  /// change of the mixture.
  Tensor differentiated(const Tensor& x) const override;
  Tensor hard(const Tensor& x) const override;
  std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const override;

 private:
  CandidatesPtr candidates_;
  Tensor logits_;
  Tensor initial_logits_;
  WireForward forward_;
};

/// The row of this layer in the table of layer kinds.
extern const LayerKind selection_layer_kind;

}  // namespace boolgrad::logic
