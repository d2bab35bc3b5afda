// Losses of single outputs. Plain C++17, shared with device kernels.
#pragma once

#include <cstdint>

namespace boolgrad {

/// The loss of an output y against its target t.
enum class LossKind : std::uint8_t {
  squares,  ///< (y - t)^2
  l4,       ///< (y - t)^4
  bce,      ///< binary cross-entropy
  focal,    ///< binary cross-entropy with less weight on easy samples
};

/// A loss and its parameters.
struct LossOptions {
  LossKind kind = LossKind::squares;  ///< the loss
  double focal_gamma = 2;             ///< exponent of `focal`
};

}  // namespace boolgrad
