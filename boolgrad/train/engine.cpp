#include "boolgrad/train/engine.h"

#include "boolgrad/core/error.h"
#include "boolgrad/train/cuda_circuit_engine.h"
#include "boolgrad/train/cuda_classifier_engine.h"
#include "boolgrad/train/device_automaton_engine.h"
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
  if (device == "cpu") return std::make_unique<HostEngine>(experiment, learner);
  if (device == "cuda" && experiment.is_automaton()) {
    return std::make_unique<DeviceAutomatonEngine>(device, experiment,
                                                   dynamic_cast<AutomatonLearner&>(learner));
  }
  if (device == "cuda" && experiment.is_classifier()) {
    return std::make_unique<CudaClassifierEngine>(experiment,
                                                  dynamic_cast<ClassifierLearner&>(learner));
  }
  if (device == "cuda") {
    return std::make_unique<CudaCircuitEngine>(experiment, dynamic_cast<CircuitLearner&>(learner));
  }
  fail("device", "expected cpu or cuda, received {}", device);
}

}  // namespace boolgrad
