#include "boolgrad/train/learners/device_circuit_engine.h"

#include "boolgrad/core/error.h"
#include "boolgrad/train/learners/device_options.h"

namespace boolgrad {
namespace {

std::unique_ptr<DeviceNetwork> device_network(const Device& name, const LogicNetwork& network,
                                              std::int64_t batch, const Experiment& experiment) {
  if (network.dtype() != DType::float32) {
    fail("device", "expected a network of float32 for {}, received {}", to_string(name),
         to_string(network.dtype()));
  }
  return make_device_network(name, wires_of(network),
                             NetworkPlan{.batch = batch,
                                         .parametrisation = network.parametrisation(),
                                         .loss = {experiment.training.loss, experiment.training.focal_gamma},
                                         .gradient_factor = experiment.network.gradient_factor,
                                         .optimiser = device_optimiser(experiment)});
}

Evaluation evaluation_of(DeviceNetwork& device, const Cases& cases) {
  const NetworkScore score = device.evaluate();
  const std::int64_t count = cases.inputs.shape()[1];
  const auto share_right = [](std::int64_t wrong, std::int64_t all) {
    return static_cast<double>(all - wrong) / static_cast<double>(all);
  };
  Evaluation result;
  result.soft_loss = score.soft_loss;
  result.soft_accuracy = share_right(score.soft_wrong_cases, count);
  result.hard_loss = static_cast<double>(score.hard_wrong_bits);
  result.hard_accuracy = share_right(score.hard_wrong_cases, count);
  result.bit_accuracy = share_right(score.hard_wrong_bits, cases.targets.size());
  return result;
}

}  // namespace

DeviceCircuitEngine::DeviceCircuitEngine(const Device& name, const Experiment& experiment,
                                         CircuitLearner& learner)
    : DeviceNetworkEngine(device_network(name, learner.network(), learner.batch_size(),
                                         trainable_on_device(experiment, name))),
      learner_(learner) {
  device().set_cases(learner.cases().inputs, learner.cases().targets);
  send(learner.network(), device());
}

Evaluation DeviceCircuitEngine::evaluate() const {
  return evaluation_of(device(), learner_.cases());
}

Evaluation evaluate_on_device(const Device& name, const LogicNetwork& network,
                              const Cases& cases, const Experiment& experiment) {
  const auto device = device_network(name, network, 1, experiment);
  device->set_cases(cases.inputs, cases.targets);
  send(network, *device);
  return evaluation_of(*device, cases);
}

}  // namespace boolgrad
