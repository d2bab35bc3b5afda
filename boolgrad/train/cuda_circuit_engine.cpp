#include "boolgrad/train/cuda_circuit_engine.h"

#include "boolgrad/core/error.h"
#include "boolgrad/train/cuda_options.h"

namespace boolgrad {
namespace {

std::unique_ptr<cuda::Network> device_network(const LogicNetwork& network, std::int64_t batch,
                                              const Experiment& experiment) {
  if (network.dtype() != DType::float32) {
    fail("device", "expected a network of float32 for cuda, received {}",
         to_string(network.dtype()));
  }
  return std::make_unique<cuda::Network>(
      wires_of(network), cuda::NetworkPlan{.batch = batch,
                                           .tables = table_form(network.parametrisation()),
                                           .loss = cuda_loss(experiment.training.loss),
                                           .gamma = experiment.training.focal_gamma,
                                           .gradient_factor = experiment.network.gradient_factor,
                                           .optimiser = cuda_optimiser(experiment)});
}

Evaluation evaluation_of(cuda::Network& device, const Cases& cases) {
  const cuda::NetworkScore score = device.evaluate();
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

CudaCircuitEngine::CudaCircuitEngine(const Experiment& experiment, CircuitLearner& learner)
    : CudaNetworkEngine(
          device_network(learner.network(), learner.batch_size(), trainable_on_cuda(experiment))),
      learner_(learner) {
  device().set_cases(learner.cases().inputs, learner.cases().targets);
  send(learner.network(), device());
}

Evaluation CudaCircuitEngine::evaluate() const { return evaluation_of(device(), learner_.cases()); }

Evaluation evaluate_on_cuda(const LogicNetwork& network, const Cases& cases,
                            const Experiment& experiment) {
  const auto device = device_network(network, 1, experiment);
  device->set_cases(cases.inputs, cases.targets);
  send(network, *device);
  return evaluation_of(*device, cases);
}

}  // namespace boolgrad
