#include "boolgrad/train/device_options.h"

#include "boolgrad/core/error.h"

namespace boolgrad {

LossForm device_loss(LossKind kind) {
  switch (kind) {
    case LossKind::squares: return LossForm::squares;
    case LossKind::l4: return LossForm::l4;
    case LossKind::bce: return LossForm::bce;
    case LossKind::focal: return LossForm::focal;
  }
  fail("loss", "expected one of the four losses, received another");
}

OptimiserOptions device_optimiser(const Experiment& experiment) {
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
