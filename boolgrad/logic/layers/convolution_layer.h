// A convolution of gate trees, with pooling, as a layer.
#pragma once

#include "boolgrad/logic/convolution.h"
#include "boolgrad/logic/layers/layer.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::logic {

/// Kernels of gates at every position of an image.
class ConvolutionLayer final : public Layer {
 public:
  /// `options.leaves()` and the places that they read are as in `convolution_wirings`.
  ConvolutionLayer(const ImageSize& image, const ConvolutionOptions& options,
                   Parametrisation parametrisation, DType dtype, const InitialOptions& initial,
                   std::uint64_t seed);

  std::int64_t inputs() const override { return network_.inputs(); }
  std::int64_t outputs() const override { return network_.outputs(); }
  std::vector<Tensor> parameters() const override;
  Tensor soft(const Tensor& x) const override { return network_.soft(x); }
  Tensor hard(const Tensor& x) const override;
  std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const override;

  /// The layers of the tree, and of pooling.
  const Network& network() const { return network_; }

 private:
  Network network_;
};

/// The row of this layer in the table of layer kinds.
extern const LayerKind convolution_layer_kind;

}  // namespace boolgrad::logic
