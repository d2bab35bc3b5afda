// Arguments of `shaders/common/hardening.glsl`. Internal to `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/options/hardening.h"

namespace boolgrad::vulkan {

/// Hardening of a step's tables, part of the arguments that change from step to step.
struct HardeningArguments {
  float share;  ///< of all tables
  float logit_scale, noise;
  std::uint32_t seed_low, seed_high, stream, step;
  std::uint32_t gate_below_high, gate_below_low;  ///< a gate is hard if its 53 random bits are less
                                                  ///< than this
};

HardeningArguments hardening_arguments(const HardeningStep& step);

/// The kind that table shaders are specialised for. `none` if no table is changed, or if all tables
/// use the same share from the arguments.
HardeningKind hardening_for_shaders(const HardeningStep& step);

}  // namespace boolgrad::vulkan
