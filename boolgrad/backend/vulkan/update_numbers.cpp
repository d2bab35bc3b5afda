#include "boolgrad/backend/vulkan/update_numbers.h"

#include <cmath>

namespace boolgrad::vulkan {

// As AdamW::step: in double, then rounded once.
UpdateNumbers update_numbers(const OptimiserOptions& options, std::int64_t step,
                             double learning_rate) {
  const auto taken = static_cast<double>(step + 1);
  const auto rounded = [](double value) { return static_cast<float>(value); };
  return {.beta1 = rounded(options.beta1),
          .beta2 = rounded(options.beta2),
          .rest1 = rounded(1 - options.beta1),
          .rest2 = rounded(1 - options.beta2),
          .scale = rounded(1 / (1 - std::pow(options.beta2, taken))),
          .rate = rounded(learning_rate / (1 - std::pow(options.beta1, taken))),
          .keep = rounded(1 - learning_rate * options.weight_decay),
          .epsilon = rounded(options.epsilon),
          .clip_value = rounded(options.clip_value),
          .clip_norm = rounded(options.clip_norm),
          .noise = rounded(options.noise),
          .noise_seed_low = static_cast<std::uint32_t>(options.seed),
          .noise_seed_high = static_cast<std::uint32_t>(options.seed >> 32),
          .noise_step = static_cast<std::uint32_t>(step)};
}

}  // namespace boolgrad::vulkan
