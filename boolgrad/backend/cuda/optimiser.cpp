#include "boolgrad/backend/cuda/optimiser.h"

#include <cmath>

#include "boolgrad/backend/cuda/check.h"
#include "boolgrad/backend/cuda/optimiser_code.h"

namespace boolgrad::cuda {

Optimiser::Optimiser(std::size_t count, const OptimiserOptions& options)
    : options_(options),
      first_(count),
      second_(count),
      part_sums_(static_cast<std::size_t>(update_parts(count))),
      finite_(1) {
  first_.clear();
  second_.clear();
  finite_.clear();
}

// As AdamW::step: in double, then rounded once.
UpdateFactors Optimiser::factors(std::int64_t step, double learning_rate) const {
  const auto taken = static_cast<double>(step + 1);
  const auto rounded = [](double value) { return static_cast<float>(value); };
  const double second_correction = 1 - std::pow(options_.beta2, taken);
  return {.beta1 = rounded(options_.beta1),
          .beta2 = rounded(options_.beta2),
          .rest1 = rounded(1 - options_.beta1),
          .rest2 = rounded(1 - options_.beta2),
          .scale = rounded(1 / second_correction),
          .rate = rounded(learning_rate / (1 - std::pow(options_.beta1, taken))),
          .keep = rounded(1 - learning_rate * options_.weight_decay),
          .epsilon = rounded(options_.epsilon),
          .clip_value = rounded(options_.clip_value),
          .noise = options_.noise,
          .seed = options_.seed,
          .step = static_cast<std::uint32_t>(step)};
}

void Optimiser::step(float* parameters, const float* gradients, const float* loss,
                     std::int64_t step, double learning_rate, Stream stream) {
  const UpdateCode code{.count = count(),
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
  check(launch_update(code, stream), "update the parameters");
}

}  // namespace boolgrad::cuda
