// What `shaders/common/hardening.glsl` reads. Inside of `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/options/hardening.h"

namespace boolgrad::vulkan {

/// How hard tables are, among the arguments that change from step to step.
struct HardeningArguments {
  float share;  ///< of all tables
  float logit_scale, noise;
  std::uint32_t seed_low, seed_high, stream, step;
  std::uint32_t gate_below_high, gate_below_low;  ///< a draw of 53 bits below makes a gate hard
};

HardeningArguments hardening_arguments(const HardeningStep& step);

/// The kind that shaders of tables are compiled for: `none` also where all tables have the share of
/// the arguments, or none of them is changed.
HardeningKind hardening_for_shaders(const HardeningStep& step);

}  // namespace boolgrad::vulkan
