#include "boolgrad/train/learners/engine.h"

#include "boolgrad/backend/device/devices.h"
#include "boolgrad/train/learners/device_automaton_engine.h"
#include "boolgrad/train/learners/device_circuit_engine.h"
#include "boolgrad/train/learners/device_classifier_engine.h"
#include "boolgrad/train/learners/host_engine.h"

namespace boolgrad {

std::unique_ptr<Engine> make_engine(const Device& device, const Experiment& experiment,
                                    Learner& learner) {
  if (device.is_cpu()) return std::make_unique<HostEngine>(experiment, learner);
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
