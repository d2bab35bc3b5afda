// AdamW (Loshchilov, Hutter: Decoupled Weight Decay Regularization, 2019) and what happens to
// gradients before it. Plain C++17: kernels read it too.
#pragma once

#include <cmath>
#include <cstdint>

namespace boolgrad {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double clip_value = 0;      ///< of every gradient; 0: no limit
  double clip_norm = 0;       ///< of all gradients together, after `clip_value`; 0: no limit
  double gradient_noise = 0;  ///< standard deviation of what is added to gradients that are not 0
  std::uint64_t seed = 0;     ///< of the noise
};

/// What a step multiplies by: m <- beta1 m + rest1 g; v <- beta2 v + rest2 g^2;
/// p <- keep p - rate m / (sqrt(scale v) + epsilon).
///
/// Each is computed in double and rounded once to the type of the parameters, so that all devices
/// compute with the same bits.
template <class T>
struct AdamWFactors {
  T beta1;
  T beta2;
  T rest1;  ///< 1 - beta1
  T rest2;  ///< 1 - beta2
  T scale;  ///< 1 / (1 - beta2^t)
  T rate;   ///< learning rate / (1 - beta1^t)
  T keep;   ///< 1 - learning rate * weight decay
  T epsilon;
};

/// The factors of step `step`, counted from 0.
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
