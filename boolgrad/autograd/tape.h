// Reverse-mode differentiation.
//
// Every differentiable op records a node: its inputs, its saved tensors (residuals) and its
// vector-Jacobian product. Nodes are numbered in creation order, so descending numbers are a
// topological order. The backward pass is one loop without recursion: graphs may be arbitrarily
// deep.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The arguments of a vector-Jacobian product.
struct VjpContext {
  std::span<const Tensor> residuals;  ///< tensors saved by the forward pass
  std::span<const Tensor> upstream;   ///< one gradient per output; zeros if none arrived
  std::span<const bool> needs;        ///< whether the gradient of input i is needed

  /// Saved tensor `i`.
  const Tensor& residual(std::size_t i) const { return residuals[i]; }
  /// The gradient of the first output.
  const Tensor& gradient() const { return upstream[0]; }
};

/// A vector-Jacobian product. Returns one gradient per input, of the input's shape and dtype. An
/// undefined tensor means zero. It is also the right result for inputs that need no gradient.
using Vjp = std::function<std::vector<Tensor>(const VjpContext&)>;

/// Marks `value` as a parameter: ops on it are recorded, so that `grad` can differentiate with
/// respect to it. Shares the memory of `value`. Throws for integer dtypes, which have no
/// derivative.
Tensor parameter(const Tensor& value);

/// Whether gradients flow through `tensor`.
bool needs_grad(const Tensor& tensor);

/// Turns recording on or off in this thread for the lifetime of the object. Guards may be nested.
class GradMode {
 public:
  /// Turns recording on if `enabled`, otherwise off.
  explicit GradMode(bool enabled);
  ~GradMode();
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool previous_;
};

/// Turns recording off in this thread for the lifetime of the object.
class NoGrad : public GradMode {
 public:
  NoGrad() : GradMode(false) {}
};

/// Records an op if an input needs a gradient and recording is on. Returns `outputs`, attached to
/// the tape. `residuals` are stored detached.
std::vector<Tensor> record(std::string_view op, std::span<const Tensor> inputs,
                           std::vector<Tensor> outputs, std::vector<Tensor> residuals, Vjp vjp);

/// Records an op with one output.
Tensor record(std::string_view op, std::initializer_list<Tensor> inputs, Tensor output,
              std::vector<Tensor> residuals, Vjp vjp);

/// Settings of `grad`.
struct GradOptions {
  /// The gradient with respect to the output, of its shape and dtype. Defaults to 1 for an output
  /// of one element.
  Tensor upstream = {};
  /// Keeps the graph for another call. By default it is freed during the backward pass, and a
  /// second call is an error.
  bool keep_graph = false;
};

/// The gradients of `output` with respect to `inputs`, which are parameters or computed from
/// parameters. The gradient is zero for an input that `output` does not depend on. Nothing
/// accumulates between calls, so there is nothing to reset between steps.
std::vector<Tensor> grad(const Tensor& output, std::span<const Tensor> inputs,
                         const GradOptions& options = {});
/// The gradients of `output` with respect to a list of inputs.
std::vector<Tensor> grad(const Tensor& output, std::initializer_list<Tensor> inputs,
                         const GradOptions& options = {});

/// The gradient of `output` with respect to one input.
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options = {});

}  // namespace boolgrad
