// Reverse-mode differentiation.
//
// Every differentiable op leaves a node: what it read, what it needs to remember (its residuals)
// and its vector-Jacobian product. Nodes are numbered as they are made, so an op's number is larger
// than the numbers of all ops it read from, and going through them from the largest number down is
// a topological order. The sweep is one loop, not a recursion: a chain of any length fits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// What a vector-Jacobian product may read.
struct VjpContext {
  std::span<const Tensor> residuals;  ///< as the forward saved them
  std::span<const Tensor> upstream;   ///< gradient of each output; zeros where none arrived
  std::span<const bool> needs;        ///< whether the gradient of input i is wanted

  const Tensor& residual(std::size_t i) const { return residuals[i]; }
  const Tensor& gradient() const { return upstream[0]; }
};

/// Returns one gradient an input, each of its input's shape and dtype. An undefined tensor means
/// zero, and is right for inputs that `needs` says nobody asked about.
using Vjp = std::function<std::vector<Tensor>(const VjpContext&)>;

/// Marks `value` as a leaf: gradients arrive here. Shares the memory of `value`. Throws for integer
/// dtypes, which have no derivative.
Tensor parameter(const Tensor& value);

/// Whether gradients flow through `tensor`.
bool needs_grad(const Tensor& tensor);

/// While one of these lives, ops of this thread go on the tape or do not. They nest.
class Recording {
 public:
  explicit Recording(bool on);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  bool previous_;
};

/// While one of these lives, this thread records nothing.
class NoGrad : public Recording {
 public:
  NoGrad() : Recording(false) {}
};

/// Puts an op on the tape if an input needs a gradient and recording is on; returns `outputs` with
/// their place on it. `residuals` are stored off the tape.
std::vector<Tensor> record(std::string_view op, std::span<const Tensor> inputs,
                           std::vector<Tensor> outputs, std::vector<Tensor> residuals, Vjp vjp);

/// The same for an op of one output.
Tensor record(std::string_view op, std::initializer_list<Tensor> inputs, Tensor output,
              std::vector<Tensor> residuals, Vjp vjp);

struct BackwardOptions {
  /// Gradient of what is differentiated, of its shape and dtype; ones where undefined (which is
  /// accepted for a single element only).
  Tensor upstream = {};
  /// Keeps the graph for another sweep. Otherwise its memory is freed as the sweep passes, and
  /// using it again is an error.
  bool keep_graph = false;
};

/// Adds the derivative of `output` to the gradient of every leaf it was computed from.
void backward(const Tensor& output, const BackwardOptions& options = {});

/// The gradient that backward sweeps have left at a leaf; undefined where none has arrived.
Tensor gradient(const Tensor& leaf);

/// Forgets the gradient at a leaf.
void clear_gradient(const Tensor& leaf);

/// The derivatives of `output` with respect to `inputs`, leaving the leaves alone. Zeros for an
/// input that `output` does not depend on.
std::vector<Tensor> grad(const Tensor& output, std::span<const Tensor> inputs,
                         const BackwardOptions& options = {});
std::vector<Tensor> grad(const Tensor& output, std::initializer_list<Tensor> inputs,
                         const BackwardOptions& options = {});

}  // namespace boolgrad
