#include "boolgrad/train/learners/device_options.h"

#include "boolgrad/core/error.h"

namespace boolgrad {

AdamWOptions device_optimiser(const Experiment& experiment) {
  const TrainingOptions& training = experiment.training;
  return {.beta1 = training.beta1,
          .beta2 = training.beta2,
          .epsilon = training.epsilon,
          .weight_decay = training.weight_decay,
          .clip_value = training.clip_value,
          .clip_norm = training.clip_norm,
          .gradient_noise = training.gradient_noise,
          .seed = static_cast<std::uint64_t>(experiment.seed)};
}

}  // namespace boolgrad
