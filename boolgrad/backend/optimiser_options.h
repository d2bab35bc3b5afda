// What a device does to gradients and with them.
#pragma once

#include <cstdint>

namespace boolgrad {

/// Clipping, noise and AdamW.
struct OptimiserOptions {
  double beta1 = 0.9;
  double beta2 = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double clip_value = 0;  ///< 0: not clipped
  double clip_norm = 0;   ///< 0: not clipped
  double noise = 0;       ///< standard deviation of what is added to gradients
  std::uint64_t seed = 0;
};

}  // namespace boolgrad
