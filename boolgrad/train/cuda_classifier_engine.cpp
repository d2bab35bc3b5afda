#include "boolgrad/train/cuda_classifier_engine.h"

#include <algorithm>
#include <numeric>

#include "boolgrad/core/error.h"
#include "boolgrad/train/cuda_options.h"

namespace boolgrad {
namespace {

void check_offered(const Experiment& experiment) {
  if (experiment.head.kind != HeadKind::classes) {
    fail("device", "expected head.kind classes for cuda, received {}",
         to_string(experiment.head.kind));
  }
  if (experiment.hardening.kind != HardeningKind::none) {
    fail("device", "expected hardening.kind none for cuda, received another");
  }
  if (experiment.binarise.learn) {
    fail("device", "expected binarise.learn false for cuda, received true");
  }
  if (experiment.training.shift > 0) {
    fail("device", "expected training.shift 0 for cuda, received {}", experiment.training.shift);
  }
  if (experiment.network.dtype != DType::float32) {
    fail("device", "expected a network of float32 for cuda, received {}",
         to_string(experiment.network.dtype));
  }
}

std::unique_ptr<cuda::Network> device_network(const ClassifierLearner& learner, std::int64_t batch,
                                              const SampleSet& samples,
                                              const Experiment& experiment) {
  const LogicNetwork& network = learner.network();
  const Classifier classifier = learner.classifier();
  std::vector<LutWires> wires;
  for (const LogicLayer& layer : network.layers()) wires.push_back(layer.wiring->view());
  auto device = std::make_unique<cuda::Network>(
      wires, cuda::NetworkPlan{.batch = batch,
                               .softmax16 = network.parametrisation() == Parametrisation::softmax16,
                               .classes = classifier.head.classes,
                               .temperature = classifier.head.temperature,
                               .smoothing = experiment.training.label_smoothing,
                               .optimiser = cuda_optimiser(experiment)});
  std::vector<std::int64_t> all(static_cast<std::size_t>(samples.count()));
  std::iota(all.begin(), all.end(), 0);
  device->set_cases(
      columns_of_rows(classifier.thresholds.bytes_of(samples.features), all, DType::float32),
      samples.labels);
  return device;
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

}  // namespace

CudaClassifierEngine::CudaClassifierEngine(const Experiment& experiment, ClassifierLearner& learner)
    : learner_(learner) {
  check_offered(experiment);
  network_ = device_network(learner, learner.batch_size(), learner.samples().train, experiment);
  judge_ = device_network(learner, 1, learner.judged(), experiment);
  load(*network_, learner_.network());
}

StepResult CudaClassifierEngine::step(std::int64_t step, double learning_rate) {
  const cuda::NetworkStep taken = network_->step(learner_.picked(step), step, learning_rate);
  if (taken.finite) {
    steps_ = step + 1;
    is_settled_ = false;
  }
  return {.loss = taken.loss, .finite = taken.finite};
}

void CudaClassifierEngine::settle() {
  if (is_settled_) return;
  const std::vector<Tensor> here = network_->logits();
  std::vector<Tensor> there = learner_.parameters();
  for (std::size_t i = 0; i < here.size(); ++i) {
    std::ranges::copy(here[i].values<float>(), there[i].mutable_values<float>().begin());
  }
  is_settled_ = true;
}

AdamWState CudaClassifierEngine::moments() const {
  return {.step = steps_, .first = network_->first_moments(), .second = network_->second_moments()};
}

void CudaClassifierEngine::restore(const AdamWState& moments) {
  load(*network_, learner_.network());
  network_->set_moments(moments.first, moments.second);
  steps_ = moments.step;
  is_settled_ = true;
}

Evaluation CudaClassifierEngine::evaluate() const {
  // The parameters are the device's; masks and the rest are those of the learner.
  std::vector<Tensor> masks;
  for (const LogicLayer& layer : learner_.network().layers()) masks.push_back(layer.mask);
  judge_->set_parameters(network_->logits(), masks, learner_.network().input_mask());
  const cuda::NetworkScore score = judge_->evaluate();
  const auto count = static_cast<double>(learner_.judged().count());
  Evaluation result;
  result.soft_loss = score.soft_loss;
  result.soft_accuracy = 1 - static_cast<double>(score.soft_wrong_cases) / count;
  result.hard_loss = static_cast<double>(score.hard_wrong_cases);
  result.hard_accuracy = 1 - result.hard_loss / count;
  result.bit_accuracy = result.hard_accuracy;
  return result;
}

}  // namespace boolgrad
