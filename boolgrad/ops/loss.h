// Losses. All return a scalar. `y` and `target` have one shape and dtype.
#pragma once

#include <cstdint>
#include <optional>

#include "boolgrad/backend/options/loss.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

enum class Reduction : std::uint8_t { sum, mean };

/// Sum of (y - t)^2.
Tensor sum_of_squares(const Tensor& y, const Tensor& target);

/// Mean of (y - t)^2.
Tensor mean_squares(const Tensor& y, const Tensor& target);

/// Sum of (y - t)^4.
Tensor l4(const Tensor& y, const Tensor& target);

/// -(t ln y + (1 - t) ln(1 - y)), y a probability, clipped to [1e-7, 1 - 1e-7]. The gradient is 0
/// outside the clip and passes at its bounds.
Tensor binary_cross_entropy(const Tensor& y, const Tensor& target,
                            Reduction reduction = Reduction::sum);

struct FocalOptions {
  /// How strongly easy cases are played down; 0 gives binary cross-entropy.
  double gamma = 2;
  /// Weight of target 1, against 1 - alpha for target 0. Not given: both weigh 1.
  std::optional<double> alpha = std::nullopt;
  Reduction reduction = Reduction::sum;
};

/// -t (1 - y)^gamma ln y - (1 - t) y^gamma ln(1 - y), y clipped as in binary_cross_entropy.
Tensor focal(const Tensor& y, const Tensor& target, const FocalOptions& options = {});

struct CrossEntropyOptions {
  /// The axis of `logits` that holds the classes.
  std::int64_t axis = -1;
  Reduction reduction = Reduction::mean;
};

/// -ln softmax(logits)[label]. `labels` (int32 or int64) has the shape of `logits` less the class
/// axis.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels,
                     const CrossEntropyOptions& options = {});

/// The loss that the options name, summed.
Tensor loss_of(const LossOptions& options, const Tensor& y, const Tensor& target);

}  // namespace boolgrad
