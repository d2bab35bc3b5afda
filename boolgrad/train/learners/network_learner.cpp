#include "boolgrad/train/learners/network_learner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/error.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/train/learners/image_shifts.h"
#include "boolgrad/train/learners/initial_model.h"

namespace boolgrad {
NetworkLearner::NetworkLearner(const Experiment& experiment, const Device& device, Model model,
                               std::int64_t samples)
    : Learner(experiment, device, std::move(model)),
      samples_(samples),
      order_(samples, batch_of(experiment, samples), static_cast<std::uint64_t>(experiment.seed)) {}

std::int64_t NetworkLearner::batch_of(const Experiment& experiment, std::int64_t count) {
  const std::int64_t size = experiment.training.batch;
  return size == 0 ? count : std::min(size, count);
}

NetworkSpec NetworkLearner::spec_for(std::int64_t batch) const {
  return {.batch = batch,
          .parametrisation = model_.parametrisation(),
          .head = model_.classifier() ? std::optional(model_.classifier()->head) : std::nullopt,
          .label_smoothing = experiment_.training.label_smoothing,
          .loss = experiment_.loss,
          .gradient_factor = experiment_.network.gradient_factor,
          .optimiser = optimiser_options()};
}

void NetworkLearner::start(const NetworkSpec& spec) {
  spec_ = spec;
  program_ = make_network_program(device_, model_.network(), spec_);
  send_data();
  program_->set_parameters(detached(model_.parameters()), model_.masks(),
                           model_.network().input_mask());
}

void NetworkLearner::load(const AdamWState& moments) {
  program_->set_parameters(detached(model_.parameters()), model_.masks(),
                           model_.network().input_mask());
  program_->set_moments(moments.first, moments.second);
  updates_ = moments.step;
}

NetworkStepArguments NetworkLearner::arguments(std::int64_t step, double learning_rate) {
  const bool in_order = experiment_.training.batch == 0 || batch_size() == samples_;
  // A classifier's batch of all samples is shuffled like any other.
  if (in_order && !model_.classifier()) picked_.clear();
  else picked_ = order_.picked(step);
  const std::int64_t shift = experiment_.training.shift;
  if (shift > 0) shifts_ = drawn_shifts(batch_size(), shift, seed(), step);
  frozen_ = frozen_gates();
  return {.step = step,
          .learning_rate = learning_rate,
          .samples = picked_,
          .shifts = shifts_,
          .hardening = hardening_step(step),
          .frozen = frozen_};
}

StepResult NetworkLearner::take_step(std::int64_t step, double learning_rate) {
  return program_->step(arguments(step, learning_rate));
}

std::vector<Tensor> NetworkLearner::gradients(std::int64_t step) {
  program_->gradients(arguments(step, 0));
  return program_->parameter_gradients();
}

// ---------------------------------------------------------------------------------------------
// Boolean tasks

namespace {

class CircuitLearner final : public NetworkLearner {
 public:
  CircuitLearner(const Experiment& experiment, const Device& device, const BooleanTask& task)
      : NetworkLearner(experiment, device,
                       Model(make_network(experiment, task.input_count(), task.output_count())),
                       task.cases()),
        cases_(task, experiment.network.dtype) {
    start(spec_for(batch_of(experiment, task.cases())));
  }

  Evaluation evaluate() override {
    return evaluation_of(program().evaluate(), cases_, experiment().loss);
  }
  double hard_loss() const override {
    const NoGrad off_the_tape;
    const Tensor outputs =
        unpack_bits(model().network().hard(pack_bits(cases_.inputs)), DType::uint8);
    double wrong = 0;
    for (std::int64_t i = 0; i < outputs.size(); ++i) {
      wrong += (outputs.at(i) > 0.5) != (cases_.targets.at(i) > 0.5) ? 1 : 0;
    }
    return wrong;
  }

 private:
  void send_data() override {
    program().set_cases(DataRole::training, cases_.inputs, cases_.targets);
  }
  double loss_terms() const override {
    return static_cast<double>(batch_size() * model().network().outputs());
  }

  Cases cases_;
};

// ---------------------------------------------------------------------------------------------
// Samples

Head head_of(const Experiment& experiment, const TrainingSamples& samples) {
  Head head{.kind = experiment.head.kind,
            .classes = std::ssize(samples.form.classes),
            .temperature = experiment.head.temperature};
  if (head.kind == HeadKind::regression) {
    const auto [low, high] = std::ranges::minmax(samples.train.labels.values<float>());
    if (low == high) fail("data", "expected values that differ, received {} alone", low);
    head.low = low;
    head.high = high;
  }
  if (head.kind == HeadKind::binary && head.classes != 2) {
    fail("data", "expected 2 classes for a binary head, received {}", head.classes);
  }
  return head;
}

/// As many as asked for, or a few more, in equal groups.
std::int64_t output_count(const Experiment& experiment, const Head& head) {
  const std::int64_t groups = head.groups();
  return (experiment.head.outputs + groups - 1) / groups * groups;
}

/// The range of each feature in the training samples, at the bits that read it.
Tensor ranges_of(const Tensor& samples, const Thresholds& thresholds) {
  const auto width = static_cast<std::size_t>(samples.shape()[1]);
  std::vector<float> low(width, std::numeric_limits<float>::max());
  std::vector<float> high(width, std::numeric_limits<float>::lowest());
  visit_dtype(samples.dtype(), [&](auto zero) {
    const auto values = samples.values<decltype(zero)>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      low[i % width] = std::min(low[i % width], convert<float>(values[i]));
      high[i % width] = std::max(high[i % width], convert<float>(values[i]));
    }
  });
  std::vector<float> ranges;
  for (const std::int32_t source : thresholds.sources()) {
    const auto feature = static_cast<std::size_t>(source);
    ranges.push_back(high[feature] - low[feature]);
  }
  return Tensor::of(ranges);
}

Model initial_classifier(const Experiment& experiment, const TrainingSamples& samples) {
  const Tensor& features = samples.train.features;
  Classifier classifier{make_thresholds(features, experiment.binarise.levels),
                        head_of(experiment, samples), samples.form,
                        features.dtype() == DType::uint8};
  const std::int64_t bits = classifier.thresholds.bits();
  if (experiment.binarise.learn) {
    classifier.threshold_offsets = parameter(Tensor::zeros({bits}, DType::float32));
  }
  LogicNetwork network = make_network(experiment, bits, output_count(experiment, classifier.head));
  return {std::move(network), std::move(classifier)};
}

class ClassifierLearner final : public NetworkLearner {
 public:
  ClassifierLearner(const Experiment& experiment, const Device& device,
                    std::shared_ptr<const TrainingSamples> samples)
      : NetworkLearner(experiment, device, initial_classifier(experiment, *samples),
                       samples->train.count()),
        data_(std::move(samples)),
        base_(model().classifier()->thresholds) {
    if (experiment.training.shift > 0 && !data_->form.is_picture()) {
      fail("data", "expected images for training.shift, received other samples");
    }
    if (experiment.binarise.learn) ranges_ = ranges_of(data_->train.features, base_);
    start(spec_for(batch_of(experiment, data_->train.count())));
  }

  void read_back() override {
    NetworkLearner::read_back();
    Classifier& classifier = *model().classifier();
    if (!classifier.threshold_offsets.defined()) return;
    const NoGrad off_the_tape;
    const auto sources = base_.sources();
    classifier.thresholds =
        Thresholds(base_.features(), {sources.begin(), sources.end()},
                   add(base_.levels(), multiply(classifier.threshold_offsets, ranges_)));
  }

  Evaluation evaluate() override {
    const Head& head = model().classifier()->head;
    const Tensor& labels = evaluated().labels;
    return evaluation_of(
        predictions_of(program().evaluate(), head, model().network().outputs(), labels), head,
        labels);
  }
  double hard_loss() const override {
    const Head& head = model().classifier()->head;
    return evaluation_of(predict(model(), evaluated()), head, evaluated().labels).hard_loss;
  }

 private:
  /// The validation samples or, where there are none, all that are learned from.
  const SampleSet& evaluated() const {
    return data_->validation.count() > 0 ? data_->validation : data_->train;
  }

  FeatureSamples features_of(const SampleSet& samples) const {
    return {.features = samples.features,
            .sources = base_.sources(),
            .thresholds = base_.levels().values<float>(),
            .height = data_->form.height,
            .width = data_->form.width,
            .ranges = ranges_.defined() ? ranges_.values<float>() : std::span<const float>(),
            .width_share = experiment().binarise.width};
  }
  void send_data() override {
    program().set_samples(DataRole::training, features_of(data_->train), data_->train.labels);
    if (data_->validation.count() == 0) return;
    program().set_samples(DataRole::evaluation, features_of(data_->validation),
                          data_->validation.labels);
  }
  double loss_terms() const override { return 1; }

  std::shared_ptr<const TrainingSamples> data_;
  Thresholds base_;  ///< where thresholds start from
  Tensor ranges_;    ///< of features, where thresholds are learned: a step is as far for all
};

}  // namespace

std::unique_ptr<Learner> make_circuit_learner(const Experiment& experiment, const Device& device) {
  return std::make_unique<CircuitLearner>(experiment, device, make_task(experiment));
}

std::unique_ptr<Learner> make_classifier_learner(const Experiment& experiment,
                                                 const Device& device) {
  return std::make_unique<ClassifierLearner>(experiment, device, training_samples_of(experiment));
}

std::shared_ptr<const TrainingSamples> training_samples_of(const Experiment& experiment) {
  return load_training_samples(experiment, experiment.head.kind == HeadKind::regression);
}

}  // namespace boolgrad
