#include "boolgrad/backend/cuda/optimiser/optimiser.h"

#include <cmath>

#include "boolgrad/backend/cuda/optimiser/arguments.h"
#include "boolgrad/backend/cuda/runtime/check.h"

namespace boolgrad::cuda {

Optimiser::Optimiser(std::size_t count, const AdamWOptions& options)
    : options_(options),
      first_(count),
      second_(count),
      part_sums_(static_cast<std::size_t>(update_parts(count))),
      finite_(1) {
  first_.clear();
  second_.clear();
  finite_.clear();
}

UpdateArguments Optimiser::factors(std::int64_t step, double learning_rate) const {
  return {.adamw = adamw_factors<float>(options_, step, learning_rate),
          .clip_value = static_cast<float>(options_.clip_value),
          .noise = options_.gradient_noise,
          .seed = options_.seed,
          .step = static_cast<std::uint32_t>(step)};
}

void Optimiser::step(float* parameters, const float* gradients, const float* loss,
                     std::int64_t step, double learning_rate, Stream stream) {
  const OptimiserArguments arguments{.count = count(),
                                     .parameters = parameters,
                                     .first = first_.data(),
                                     .second = second_.data(),
                                     .gradients = gradients,
                                     .loss = loss,
                                     .factors = factors(step, learning_rate),
                                     .clip_norm = options_.clip_norm,
                                     .part_sums = part_sums_.data(),
                                     .parts = update_parts(count()),
                                     .finite = finite_.data()};
  check(launch_update(arguments, stream), "update the parameters");
}

}  // namespace boolgrad::cuda
