// Losses. All return a scalar. `y` and `target` have the same shape and dtype.
#pragma once

#include <cstdint>
#include <optional>

#include "boolgrad/options/loss.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// How the losses of the elements are combined.
enum class Reduction : std::uint8_t { sum, mean };

/// The sum of (y - t)^2.
Tensor sum_of_squares(const Tensor& y, const Tensor& target);

/// The mean of (y - t)^2.
Tensor mean_squared_error(const Tensor& y, const Tensor& target);

/// The sum of (y - t)^4.
Tensor l4(const Tensor& y, const Tensor& target);

/// -(t ln y + (1 - t) ln(1 - y)) for probabilities y, clipped to [1e-7, 1 - 1e-7]. The gradient is
/// 0 outside of the clip range.
Tensor binary_cross_entropy(const Tensor& y, const Tensor& target,
                            Reduction reduction = Reduction::sum);

/// Settings of `focal`.
struct FocalOptions {
  /// How strongly easy samples are down-weighted. 0 gives binary cross-entropy.
  double gamma = 2;
  /// The weight of target 1; target 0 gets 1 - alpha. Both weights are 1 if it is not given.
  std::optional<double> alpha = std::nullopt;
  /// Sum or mean over the elements.
  Reduction reduction = Reduction::sum;
};

/// The focal loss -t (1 - y)^gamma ln y - (1 - t) y^gamma ln(1 - y), with y clipped as in
/// `binary_cross_entropy`.
Tensor focal(const Tensor& y, const Tensor& target, const FocalOptions& options = {});

/// Settings of `cross_entropy`.
struct CrossEntropyOptions {
  /// The class axis of `logits`.
  std::int64_t axis = -1;
  /// Sum or mean over the samples.
  Reduction reduction = Reduction::mean;
};

/// -ln softmax(logits)[label]. `labels` (int32 or int64) has the shape of `logits` without the
/// class axis.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels,
                     const CrossEntropyOptions& options = {});

/// The loss selected by `options`, summed over the elements.
Tensor loss_of(const LossOptions& options, const Tensor& y, const Tensor& target);

}  // namespace boolgrad
