// Hardening of truth tables during training. Plain C++17, shared with device kernels.
#pragma once

#include <cstdint>

namespace boolgrad {

/// How training brings soft tables closer to hard ones.
enum class HardeningKind : std::uint8_t {
  none,              ///< soft tables throughout
  blend,             ///< every table is (1 - share) soft + share hard
  gates,             ///< each gate is hard with probability `share`, sampled at every step
  states,            ///< each cell state is rounded with probability `share`, except the last state
  straight_through,  ///< hard tables in the forward pass, soft gradients in the backward pass
  temperature,       ///< logits are divided by a temperature that falls from 1
  noise,             ///< Gumbel noise of growing scale is added to the logits
  freeze,            ///< the fraction `share` of each layer's most certain gates is hard and fixed
};

/// Whether a kind changes the logits rather than the tables.
constexpr bool changes_logits(HardeningKind kind) {
  return kind == HardeningKind::temperature || kind == HardeningKind::noise;
}

/// The hardening of one training step. It does not affect evaluation.
struct HardeningStep {
  HardeningKind kind = HardeningKind::none;  ///< the method
  double share = 0;                          ///< from 0 (soft tables) to 1 (fully hardened)
  double logit_scale = 1;                    ///< `temperature`: factor of the logits
  double noise = 0;                          ///< `noise`: scale of the Gumbel noise
  std::uint64_t seed = 0;                    ///< random address of `gates`, `states` and `noise`
  std::uint32_t stream = 0;                  ///< random address
  std::uint32_t step = 0;                    ///< random address
};

}  // namespace boolgrad
