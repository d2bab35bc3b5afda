// The perception layer: kernels of gates over the 3x3 neighbourhood of every channel.
#pragma once

#include "boolgrad/automata/rule.h"
#include "boolgrad/logic/layers/layer.h"

namespace boolgrad::automata {

/// Reads nine values per channel (row-major, 4 is the cell itself). Outputs the inputs of a rule's
/// update: the channels of the cell, then for each channel the outputs of all kernels.
class PerceptionLayer final : public logic::Layer {
 public:
  /// `kernels` is a network over nine inputs. The layer shares its parameters.
  PerceptionLayer(logic::Network kernels, std::int64_t channels);

  std::int64_t inputs() const override;
  std::int64_t outputs() const override;
  std::vector<Tensor> parameters() const override { return kernels_.parameters(); }
  Tensor soft(const Tensor& x) const override;
  Tensor hard(const Tensor& x) const override;
  std::vector<logic::Signal> emit(std::span<const logic::Signal> inputs,
                                  logic::GateSink& sink) const override;

 private:
  logic::Network kernels_;
  std::int64_t channels_;
};

/// The row of this layer in the table of layer kinds.
extern const logic::LayerKind perception_layer_kind;

}  // namespace boolgrad::automata
