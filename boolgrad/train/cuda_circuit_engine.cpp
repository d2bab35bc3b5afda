#include "boolgrad/train/cuda_circuit_engine.h"

#include <algorithm>

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
  std::vector<LutWires> wires;
  for (const LogicLayer& layer : network.layers()) wires.push_back(layer.wiring->view());
  return std::make_unique<cuda::Network>(
      wires, cuda::NetworkPlan{.batch = batch,
                               .softmax16 = network.parametrisation() == Parametrisation::softmax16,
                               .loss = cuda_loss(experiment.training.loss),
                               .gamma = experiment.training.focal_gamma,
                               .optimiser = cuda_optimiser(experiment)});
}

void load(cuda::Network& device, const LogicNetwork& network) {
  std::vector<Tensor> logits;
  std::vector<Tensor> masks;
  for (const LogicLayer& layer : network.layers()) {
    logits.push_back(layer.logits.detach());
    masks.push_back(layer.mask);
  }
  device.set_parameters(logits, masks, network.input_mask());
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
    : learner_(learner),
      network_(device_network(learner.network(), learner.batch_size(), experiment)) {
  network_->set_cases(learner.cases().inputs, learner.cases().targets);
  load(*network_, learner_.network());
}

StepResult CudaCircuitEngine::step(std::int64_t step, double learning_rate) {
  const cuda::NetworkStep taken = network_->step(learner_.picked(step), step, learning_rate);
  if (taken.finite) {
    steps_ = step + 1;
    is_settled_ = false;
  }
  return {.loss = taken.loss, .finite = taken.finite};
}

void CudaCircuitEngine::settle() {
  if (is_settled_) return;
  const std::vector<Tensor> here = network_->logits();
  std::vector<Tensor> there = learner_.parameters();
  for (std::size_t i = 0; i < here.size(); ++i) {
    std::ranges::copy(here[i].values<float>(), there[i].mutable_values<float>().begin());
  }
  is_settled_ = true;
}

AdamWState CudaCircuitEngine::moments() const {
  return {.step = steps_, .first = network_->first_moments(), .second = network_->second_moments()};
}

void CudaCircuitEngine::restore(const AdamWState& moments) {
  load(*network_, learner_.network());
  network_->set_moments(moments.first, moments.second);
  steps_ = moments.step;
  is_settled_ = true;
}

Evaluation CudaCircuitEngine::evaluate() const {
  return evaluation_of(*network_, learner_.cases());
}

Evaluation evaluate_on_cuda(const LogicNetwork& network, const Cases& cases,
                            const Experiment& experiment) {
  const auto device = device_network(network, 1, experiment);
  device->set_cases(cases.inputs, cases.targets);
  load(*device, network);
  return evaluation_of(*device, cases);
}

}  // namespace boolgrad
