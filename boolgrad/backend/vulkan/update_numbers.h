// What `shaders/optimiser.glsl` reads. Inside of `vulkan/`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/optimiser_options.h"

namespace boolgrad::vulkan {

/// AdamW and what is done to gradients before, among the numbers that change from run to run.
struct UpdateNumbers {
  float beta1, beta2, rest1, rest2, scale, rate, keep, epsilon, clip_value, clip_norm, noise;
  std::uint32_t noise_seed_low, noise_seed_high, noise_step;
};

/// Of step `step`, counted from 0.
UpdateNumbers update_numbers(const OptimiserOptions& options, std::int64_t step,
                             double learning_rate);

}  // namespace boolgrad::vulkan
