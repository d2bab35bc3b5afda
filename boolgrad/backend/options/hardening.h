// How tables become hard while they are trained. Plain C++17: kernels read it too.
#pragma once

#include <cstdint>

namespace boolgrad {

enum class HardeningKind : std::uint8_t {
  none,
  blend,   ///< every table (1 - share) soft + share hard
  gates,   ///< each gate's table hard with probability `share`, drawn again for every step
  states,  ///< each cell's state rounded after each step but the last with probability `share`
  straight_through,  ///< every table hard from the first step on
  temperature,       ///< tables of logits over a temperature that falls from 1
  noise,             ///< tables of logits with Gumbel noise that grows
  freeze,  ///< the `share` of each layer's gates with the most certain tables hard and fixed
};

/// Whether a kind changes logits before they become tables, and not the tables.
constexpr bool changes_logits(HardeningKind kind) {
  return kind == HardeningKind::temperature || kind == HardeningKind::noise;
}

/// What hardening does in one training step. Evaluations never see it: they read soft or hard
/// tables as they are.
struct HardeningStep {
  HardeningKind kind = HardeningKind::none;
  double share = 0;        ///< how hard, from 0 to 1; at 0 tables are soft whatever the kind
  double logit_scale = 1;  ///< of `temperature`: what logits are multiplied by
  double noise = 0;        ///< of `noise`: what Gumbel noise is multiplied by
  /// Where `gates`, `states` and `noise` draw.
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  std::uint32_t step = 0;
};

}  // namespace boolgrad
