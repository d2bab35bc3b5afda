#include "boolgrad/train/learners/device_classifier_engine.h"

#include "boolgrad/core/error.h"
#include "boolgrad/train/learners/device_options.h"

namespace boolgrad {
namespace {

/// The experiment, once it is known that the device can do what it asks for.
const Experiment& checked(const Experiment& experiment, const Device& device) {
  if (experiment.head.kind != HeadKind::classes) {
    fail("device", "expected head.kind classes for {}, received {}", to_string(device),
         to_string(experiment.head.kind));
  }
  if (experiment.binarise.learn) {
    fail("device", "expected binarise.learn false for {}, received true", to_string(device));
  }
  if (experiment.network.dtype != DType::float32) {
    fail("device", "expected a network of float32 for {}, received {}", to_string(device),
         to_string(experiment.network.dtype));
  }
  return trainable_on_device(experiment, device);
}

std::unique_ptr<DeviceNetwork> device_network(const Device& name,
                                              const ClassifierLearner& learner, std::int64_t batch,
                                              const SampleSet& samples,
                                              const Experiment& experiment) {
  const LogicNetwork& network = learner.network();
  const Classifier classifier = learner.classifier();
  auto device =
      make_device_network(name, wires_of(network),
                          NetworkPlan{.batch = batch,
                                      .parametrisation = network.parametrisation(),
                                      .classes = classifier.head.classes,
                                      .temperature = classifier.head.temperature,
                                      .smoothing = experiment.training.label_smoothing,
                                      .gradient_factor = experiment.network.gradient_factor,
                                      .optimiser = device_optimiser(experiment)});
  device->set_samples({.features = samples.features,
                       .sources = classifier.thresholds.sources(),
                       .levels = classifier.thresholds.levels().values<float>(),
                       .height = classifier.form.height,
                       .width = classifier.form.width},
                      samples.labels);
  return device;
}

}  // namespace

DeviceClassifierEngine::DeviceClassifierEngine(const Device& name,
                                               const Experiment& experiment,
                                               ClassifierLearner& learner)
    : DeviceNetworkEngine(device_network(name, learner, learner.batch_size(),
                                         learner.samples().train, checked(experiment, name))),
      learner_(learner),
      judge_(device_network(name, learner, 1, learner.judged(), experiment)) {
  send(learner.network(), device());
}

Evaluation DeviceClassifierEngine::evaluate() const {
  // The parameters are the device's; masks and the rest are those of the learner.
  std::vector<Tensor> masks;
  for (const LogicLayer& layer : learner_.network().layers()) masks.push_back(layer.mask);
  judge_->set_parameters(device().logits(), masks, learner_.network().input_mask());
  const NetworkScore score = judge_->evaluate();
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
