// Automata trained on a device that is not the CPU: starts, fire masks, rollouts, gradients and
// updates are made there, and a step brings back its loss.
#pragma once

#include <memory>
#include <string>

#include "boolgrad/automata/on_device.h"
#include "boolgrad/train/learners/automaton_learner.h"
#include "boolgrad/train/learners/engine.h"

namespace boolgrad {

class DeviceAutomatonEngine : public Engine {
 public:
  /// Refuses an automaton that is not in float32.
  DeviceAutomatonEngine(const Device& device, const Experiment& experiment,
                        AutomatonLearner& learner);

  StepResult step(std::int64_t step, double learning_rate) override;
  void settle() override;
  AdamWState moments() const override;
  void restore(const AdamWState& moments) override;
  Evaluation evaluate() const override;

  /// A step with a rollout of the hardened rule from the same starts beside it.
  AutomatonOutcome step_with_hard(std::int64_t step, double learning_rate);

 private:
  AutomatonDraws draws(std::int64_t step) const;

  const Experiment& experiment_;
  AutomatonLearner& learner_;
  std::unique_ptr<DeviceAutomaton> device_;
  std::int64_t steps_ = 0;
  bool settled_ = true;
};

}  // namespace boolgrad
