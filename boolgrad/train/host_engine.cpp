#include "boolgrad/train/host_engine.h"

#include <cmath>
#include <utility>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/optim/gradients.h"

namespace boolgrad {
namespace {

/// Gradients on their way to the optimiser.
std::vector<Tensor> prepared(std::vector<Tensor> gradients, const Experiment& experiment,
                             std::int64_t step) {
  const TrainingOptions& training = experiment.training;
  if (training.clip_value > 0) gradients = clip_by_value(gradients, training.clip_value);
  if (training.clip_norm > 0) gradients = clip_by_norm(gradients, training.clip_norm);
  return with_noise(gradients, training.gradient_noise, static_cast<std::uint64_t>(experiment.seed),
                    static_cast<std::uint32_t>(step));
}

}  // namespace

HostEngine::HostEngine(const Experiment& experiment, Learner& learner)
    : experiment_(experiment),
      learner_(learner),
      optimiser_(learner.parameters(), adamw_options(experiment.training)) {}

StepResult HostEngine::step(std::int64_t step, double learning_rate) {
  const Tensor loss = learner_.loss(step);
  StepResult result{.loss = loss.item()};
  const std::vector<Tensor> gradients = grad(loss, learner_.parameters());
  result.finite = std::isfinite(result.loss) && all_finite(gradients);
  if (result.finite) optimiser_.step(prepared(gradients, experiment_, step), learning_rate);
  return result;
}

AdamWState HostEngine::moments() const {
  AdamWState copy = optimiser_.state();
  for (Tensor& moment : copy.first) moment = moment.clone();
  for (Tensor& moment : copy.second) moment = moment.clone();
  return copy;
}

void HostEngine::restore(const AdamWState& moments) {
  AdamW optimiser(learner_.parameters(), adamw_options(experiment_.training));
  optimiser.restore(moments);
  optimiser_ = std::move(optimiser);
}

}  // namespace boolgrad
