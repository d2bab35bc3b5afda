// Steps of circuits on a device, which holds the cases, the parameters and their moments.
#pragma once

#include "boolgrad/train/learners/circuit_learner.h"
#include "boolgrad/train/learners/device_network_engine.h"

namespace boolgrad {

class DeviceCircuitEngine : public DeviceNetworkEngine {
 public:
  /// On the device of that name. Refuses a network that is not in float32.
  DeviceCircuitEngine(const Device& name, const Experiment& experiment,
                      CircuitLearner& learner);

  Evaluation evaluate() const override;

 private:
  const LogicNetwork& network() const override { return learner_.network(); }
  std::vector<std::int64_t> picked(std::int64_t step) override { return learner_.picked(step); }
  const Hardening& hardening() const override { return learner_.hardening(); }

  CircuitLearner& learner_;
};

/// How good `network` is at all `cases` of an experiment, computed on the device of that name.
Evaluation evaluate_on_device(const Device& name, const LogicNetwork& network,
                              const Cases& cases, const Experiment& experiment);

}  // namespace boolgrad
