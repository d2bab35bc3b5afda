// Gradient checkpointing of rollouts. Plain C++17, shared with device kernels.
#pragma once

#include <cstdint>

namespace boolgrad {

/// What the forward pass of a rollout keeps for the backward pass. The rest is recomputed. The
/// gradients have the same bits under every policy.
enum class MemoryPolicy : std::uint8_t {
  everything,   ///< every activation of every step
  states,       ///< the state before every step; recomputes every step once
  some_states,  ///< every n-th state; recomputes every step twice
};

/// A memory policy and its parameter.
struct Memory {
  MemoryPolicy policy = MemoryPolicy::states;  ///< the policy
  std::int64_t every = 1;                      ///< n of `some_states`
};

}  // namespace boolgrad
