#include "boolgrad/train/engine.h"

#include "boolgrad/backend/devices.h"
#include "boolgrad/core/error.h"
#include "boolgrad/train/device_automaton_engine.h"
#include "boolgrad/train/device_circuit_engine.h"
#include "boolgrad/train/device_classifier_engine.h"
#include "boolgrad/train/host_engine.h"

namespace boolgrad {

AdamWOptions adamw_options(const TrainingOptions& training) {
  return {.beta1 = training.beta1,
          .beta2 = training.beta2,
          .epsilon = training.epsilon,
          .weight_decay = training.weight_decay};
}

std::unique_ptr<Engine> make_engine(const std::string& device, const Experiment& experiment,
                                    Learner& learner) {
  const std::optional<DeviceName> name = parse_device(device);
  if (!name) fail("device", "expected cpu, cuda, vulkan or vulkan:N, received {}", device);
  if (name->backend == "cpu") return std::make_unique<HostEngine>(experiment, learner);
  if (experiment.is_automaton()) {
    return std::make_unique<DeviceAutomatonEngine>(device, experiment,
                                                   dynamic_cast<AutomatonLearner&>(learner));
  }
  if (experiment.is_classifier()) {
    return std::make_unique<DeviceClassifierEngine>(device, experiment,
                                                    dynamic_cast<ClassifierLearner&>(learner));
  }
  return std::make_unique<DeviceCircuitEngine>(device, experiment,
                                               dynamic_cast<CircuitLearner&>(learner));
}

}  // namespace boolgrad
