// What `shaders/optimiser.glsl` reads. Inside of `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/options/adamw.h"

namespace boolgrad::vulkan {

/// AdamW and what is done to gradients before it, among the arguments that change from step to
/// step.
struct UpdateArguments {
  AdamWFactors<float> adamw;
  float clip_value, clip_norm, noise;
  std::uint32_t noise_seed_low, noise_seed_high, noise_step;
};

/// Of step `step`, counted from 0.
UpdateArguments update_arguments(const AdamWOptions& options, std::int64_t step,
                                 double learning_rate);

}  // namespace boolgrad::vulkan
