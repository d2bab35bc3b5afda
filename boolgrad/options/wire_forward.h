// The forward pass of learned wires. Plain C++17, shared with device kernels.
#pragma once

#include <cstdint>

namespace boolgrad {

/// What a gate reads in training if its wires are learned. The gradients of the logits are the same
/// function of the probabilities in both cases.
enum class WireForward : std::uint8_t {
  hard,  ///< its most probable candidate; gradients pass straight through
  soft,  ///< the mean of its candidates, weighted by their probabilities
};

}  // namespace boolgrad
