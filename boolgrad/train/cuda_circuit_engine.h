// Steps of circuits on an NVIDIA GPU, which holds the cases, the parameters and their moments.
#pragma once

#include "boolgrad/train/circuit_learner.h"
#include "boolgrad/train/cuda_network_engine.h"

namespace boolgrad {

class CudaCircuitEngine : public CudaNetworkEngine {
 public:
  CudaCircuitEngine(const Experiment& experiment, CircuitLearner& learner);

  Evaluation evaluate() const override;

 private:
  const LogicNetwork& network() const override { return learner_.network(); }
  std::vector<std::int64_t> picked(std::int64_t step) override { return learner_.picked(step); }
  const Hardening& hardening() const override { return learner_.hardening(); }

  CircuitLearner& learner_;
};

/// How good `network` is at all `cases` of an experiment, computed on the device.
Evaluation evaluate_on_cuda(const LogicNetwork& network, const Cases& cases,
                            const Experiment& experiment);

}  // namespace boolgrad
