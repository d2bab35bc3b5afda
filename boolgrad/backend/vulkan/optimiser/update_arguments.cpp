#include "boolgrad/backend/vulkan/optimiser/update_arguments.h"

namespace boolgrad::vulkan {

UpdateArguments update_arguments(const AdamWOptions& options, std::int64_t step,
                                 double learning_rate) {
  const auto rounded = [](double value) { return static_cast<float>(value); };
  return {.adamw = adamw_factors<float>(options, step, learning_rate),
          .clip_value = rounded(options.clip_value),
          .clip_norm = rounded(options.clip_norm),
          .noise = rounded(options.gradient_noise),
          .noise_seed_low = static_cast<std::uint32_t>(options.seed),
          .noise_seed_high = static_cast<std::uint32_t>(options.seed >> 32),
          .noise_step = static_cast<std::uint32_t>(step)};
}

}  // namespace boolgrad::vulkan
