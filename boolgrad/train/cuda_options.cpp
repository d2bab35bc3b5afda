#include "boolgrad/train/cuda_options.h"

#include "boolgrad/core/error.h"

namespace boolgrad {

cuda::LossForm cuda_loss(LossKind kind) {
  switch (kind) {
    case LossKind::squares: return cuda::LossForm::squares;
    case LossKind::l4: return cuda::LossForm::l4;
    case LossKind::bce: return cuda::LossForm::bce;
    case LossKind::focal: return cuda::LossForm::focal;
  }
  fail("loss", "expected one of the four losses, received another");
}

cuda::OptimiserOptions cuda_optimiser(const Experiment& experiment) {
  const TrainingOptions& training = experiment.training;
  return {.beta1 = training.beta1,
          .beta2 = training.beta2,
          .epsilon = training.epsilon,
          .weight_decay = training.weight_decay,
          .clip_value = training.clip_value,
          .clip_norm = training.clip_norm,
          .noise = training.gradient_noise,
          .seed = static_cast<std::uint64_t>(experiment.seed)};
}

}  // namespace boolgrad
