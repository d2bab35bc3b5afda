// Automata trained on an NVIDIA GPU: starts, fire masks, rollouts, gradients and updates are made
// there, and a step brings back its loss.
#pragma once

#include <memory>

#include "boolgrad/automata/on_cuda.h"
#include "boolgrad/train/automaton_learner.h"
#include "boolgrad/train/engine.h"

namespace boolgrad {

class CudaAutomatonEngine : public Engine {
 public:
  /// Refuses an automaton that is not in float32.
  CudaAutomatonEngine(const Experiment& experiment, AutomatonLearner& learner);

  StepResult step(std::int64_t step, double learning_rate) override;
  void settle() override;
  AdamWState moments() const override;
  void restore(const AdamWState& moments) override;
  Evaluation evaluate() const override;

  /// A step with a rollout of the hardened rule from the same starts beside it.
  cuda::StepOutcome step_with_hard(std::int64_t step, double learning_rate);

 private:
  cuda::AutomatonDraws draws(std::int64_t step) const;

  const Experiment& experiment_;
  AutomatonLearner& learner_;
  std::unique_ptr<cuda::Automaton> device_;
  std::int64_t steps_ = 0;
  bool settled_ = true;
};

}  // namespace boolgrad
