// A stack of gate layers, as PyTorch modules call it.
#pragma once

#include <string>
#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/wiring.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::python {

/// How the weights of a layer become the tables that the kernels interpolate.
enum class Tables : std::uint8_t {
  softmax16,  ///< as the parametrisations of these names
  sigmoid,
  walsh,
  walsh_logits,  ///< the logits of the entries, from Walsh coefficients
  pool,          ///< no weights: the layer is a pooling layer
};

/// The kind with this name. Throws if there is none.
Tables tables_called(const std::string& name);

/// Layers that are computed tile by tile, with their weights as arguments. Immutable; calls are
/// thread-safe. All activations are [features, samples].
class LayerStack {
 public:
  LayerStack(std::vector<logic::WiringPtr> wirings, std::vector<Tables> kinds);

  std::int64_t inputs() const { return wirings_.front()->inputs(); }
  std::int64_t outputs() const { return wirings_.back()->gates(); }
  const std::vector<logic::WiringPtr>& wirings() const { return wirings_; }
  const std::vector<Tables>& kinds() const { return kinds_; }

  /// The outputs [outputs, samples] for x [inputs, samples]. `weights` has one tensor per layer
  /// that has weights. With `hard`, tables are those of the hardened gates.
  Tensor forward(const Tensor& x, const std::vector<Tensor>& weights, bool hard) const;

  /// The gradients of x, undefined unless `needs_x`, and then of all weights. With `hard`, they
  /// pass straight through to the soft tables.
  std::vector<Tensor> backward(const Tensor& g, const Tensor& x, const std::vector<Tensor>& weights,
                               bool hard, bool needs_x) const;

  /// The hardened gates as a network of sigmoid tables, whose logits are `+-strength`.
  logic::Network hardened(const std::vector<Tensor>& weights, double strength) const;

 private:
  void check(const Tensor& x, const std::vector<Tensor>& weights) const;
  std::vector<Tensor> coefficients(const Tensor& x, const std::vector<Tensor>& weights,
                                   bool hard) const;

  std::vector<logic::WiringPtr> wirings_;
  std::vector<Tables> kinds_;
  std::vector<LutWires> views_;
};

}  // namespace boolgrad::python
