// Steps of circuits on an NVIDIA GPU, which holds the cases, the parameters and their moments.
#pragma once

#include "boolgrad/backend/cuda/network.h"
#include "boolgrad/train/circuit_learner.h"
#include "boolgrad/train/engine.h"

namespace boolgrad {

class CudaCircuitEngine : public Engine {
 public:
  CudaCircuitEngine(const Experiment& experiment, CircuitLearner& learner);

  StepResult step(std::int64_t step, double learning_rate) override;
  void settle() override;
  AdamWState moments() const override;
  void restore(const AdamWState& moments) override;
  Evaluation evaluate() const override;

 private:
  CircuitLearner& learner_;
  std::unique_ptr<cuda::Network> network_;
  std::int64_t steps_ = 0;  ///< that the moments have seen
  bool is_settled_ = true;  ///< whether the learner's parameters are those of the device
};

/// How good `network` is at all `cases` of an experiment, computed on the device.
Evaluation evaluate_on_cuda(const LogicNetwork& network, const Cases& cases,
                            const Experiment& experiment);

}  // namespace boolgrad
