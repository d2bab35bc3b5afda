// Options of AdamW (Loshchilov, Hutter: Decoupled Weight Decay Regularization, 2019) and of
// gradient preprocessing. Plain C++17, shared with device kernels.
#pragma once

#include <cmath>
#include <cstdint>

namespace boolgrad {

/// Hyperparameters of AdamW and of the gradient preprocessing before it.
struct AdamWOptions {
  double beta1 = 0.9;         ///< decay rate of the first moment
  double beta2 = 0.99;        ///< decay rate of the second moment
  double epsilon = 1e-8;      ///< added to the denominator
  double weight_decay = 0;    ///< decoupled weight decay
  double clip_value = 0;      ///< clips every gradient element to [-clip_value, clip_value]; 0: off
  double clip_norm = 0;       ///< clips the global norm, after `clip_value`; 0: off
  double gradient_noise = 0;  ///< standard deviation of noise added to nonzero gradients
  std::uint64_t seed = 0;     ///< seed of the noise
};

/// The constants of one step: m <- beta1 m + rest1 g; v <- beta2 v + rest2 g^2;
/// p <- keep p - rate m / (sqrt(scale v) + epsilon).
///
/// Each is computed in double and rounded once to the parameter type, so that all devices use the
/// same bits.
template <class T>
struct AdamWFactors {
  T beta1;    ///< as in the options
  T beta2;    ///< as in the options
  T rest1;    ///< 1 - beta1
  T rest2;    ///< 1 - beta2
  T scale;    ///< 1 / (1 - beta2^t)
  T rate;     ///< learning rate / (1 - beta1^t)
  T keep;     ///< 1 - learning rate * weight decay
  T epsilon;  ///< as in the options
};

/// The constants of step `step`, counted from 0.
template <class T>
AdamWFactors<T> adamw_factors(const AdamWOptions& options, std::int64_t step,
                              double learning_rate) {
  const auto taken = static_cast<double>(step + 1);
  return {static_cast<T>(options.beta1),
          static_cast<T>(options.beta2),
          static_cast<T>(1 - options.beta1),
          static_cast<T>(1 - options.beta2),
          static_cast<T>(1 / (1 - std::pow(options.beta2, taken))),
          static_cast<T>(learning_rate / (1 - std::pow(options.beta1, taken))),
          static_cast<T>(1 - learning_rate * options.weight_decay),
          static_cast<T>(options.epsilon)};
}

}  // namespace boolgrad
