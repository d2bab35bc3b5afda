// Arguments of `shaders/common/optimiser.glsl`. Internal to `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/options/adamw.h"

namespace boolgrad::vulkan {

/// AdamW, gradient clipping and noise, part of the arguments that change from step to step.
struct UpdateArguments {
  AdamWFactors<float> adamw;
  float clip_value, clip_norm, noise;
  std::uint32_t noise_seed_low, noise_seed_high, noise_step;
};

/// For step `step`, counted from 0.
UpdateArguments update_arguments(const AdamWOptions& options, std::int64_t step,
                                 double learning_rate);

}  // namespace boolgrad::vulkan
