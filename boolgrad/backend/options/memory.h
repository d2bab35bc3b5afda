// What a rollout keeps for its backward pass. Plain C++17: kernels read it too.
#pragma once

#include <cstdint>

namespace boolgrad {

/// Less memory costs another computation of what was not kept; the gradients have the same bits.
enum class MemoryPolicy : std::uint8_t {
  everything,   ///< every activation of every step
  states,       ///< the state before every step; the step is computed again
  some_states,  ///< every n-th state; the steps from there are computed again, and then each once
                ///< more
};

struct Memory {
  MemoryPolicy policy = MemoryPolicy::states;
  std::int64_t every = 1;  ///< n of `some_states`
};

}  // namespace boolgrad
