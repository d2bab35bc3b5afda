// Steps of classifiers on a device, which holds all samples, the parameters and their moments, and
// makes bits of samples as it needs them.
#pragma once

#include "boolgrad/train/learners/classifier_learner.h"
#include "boolgrad/train/learners/device_network_engine.h"

namespace boolgrad {

/// Offers heads of classes with fixed levels; refuses the rest.
class DeviceClassifierEngine : public DeviceNetworkEngine {
 public:
  /// On the device of that name.
  DeviceClassifierEngine(const Device& name, const Experiment& experiment,
                         ClassifierLearner& learner);

  Evaluation evaluate() const override;

 private:
  const LogicNetwork& network() const override { return learner_.network(); }
  std::vector<std::int64_t> picked(std::int64_t step) override { return learner_.picked(step); }
  const Hardening& hardening() const override { return learner_.hardening(); }
  std::vector<ImageShift> moves(std::int64_t step) const override { return learner_.moves(step); }

  ClassifierLearner& learner_;
  std::unique_ptr<DeviceNetwork> judge_;  ///< with those that training is judged by
};

}  // namespace boolgrad
