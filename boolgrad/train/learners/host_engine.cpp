#include "boolgrad/train/learners/host_engine.h"

#include <cmath>
#include <utility>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/optim/gradients.h"
#include "boolgrad/train/learners/device_options.h"

namespace boolgrad {
HostEngine::HostEngine(const Experiment& experiment, Learner& learner)
    : experiment_(experiment),
      learner_(learner),
      optimiser_(learner.parameters(), device_optimiser(experiment)) {}

StepResult HostEngine::step(std::int64_t step, double learning_rate) {
  const Tensor loss = learner_.loss(step);
  StepResult result{.loss = loss.item()};
  const std::vector<Tensor> gradients = grad(loss, learner_.parameters());
  result.finite = std::isfinite(result.loss) && all_finite(gradients);
  if (result.finite) optimiser_.step(gradients, learning_rate);
  return result;
}

AdamWState HostEngine::moments() const {
  AdamWState copy = optimiser_.state();
  for (Tensor& moment : copy.first) moment = moment.clone();
  for (Tensor& moment : copy.second) moment = moment.clone();
  return copy;
}

void HostEngine::restore(const AdamWState& moments) {
  AdamW optimiser(learner_.parameters(), device_optimiser(experiment_));
  optimiser.restore(moments);
  optimiser_ = std::move(optimiser);
}

}  // namespace boolgrad
