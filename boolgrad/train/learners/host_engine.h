// Steps on the host: the tape, then AdamW.
#pragma once

#include "boolgrad/train/learners/engine.h"

namespace boolgrad {

class HostEngine : public Engine {
 public:
  HostEngine(const Experiment& experiment, Learner& learner);

  StepResult step(std::int64_t step, double learning_rate) override;
  void settle() override {}
  AdamWState moments() const override;
  void restore(const AdamWState& moments) override;
  Evaluation evaluate() const override { return learner_.evaluate(); }

 private:
  const Experiment& experiment_;
  Learner& learner_;
  AdamW optimiser_;
};

}  // namespace boolgrad
