#include "boolgrad/train/learners/network_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/model/device_evaluation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/train/learners/blockwise_program.h"
#include "boolgrad/train/learners/image_transforms.h"
#include "boolgrad/train/learners/initial_model.h"
#include "boolgrad/train/learners/teacher.h"

namespace boolgrad::train {

NetworkLearner::NetworkLearner(const Experiment& experiment, const Device& device, Group& group,
                               Model model, std::int64_t samples)
    : Learner(experiment, device, group, std::move(model)),
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
          .max_exponent = model_.classifier() ? experiment_.head.trained_exponent() : 0,
          .label_smoothing = experiment_.training.label_smoothing,
          .teacher_weight =
              experiment_.training.teacher.path.empty() ? 0 : experiment_.training.teacher.weight,
          .loss = experiment_.loss,
          .gradient_factor = experiment_.network.gradient_factor,
          .gate_penalty = experiment_.training.gate_penalty,
          .wire_forward = experiment_.network.wire_forward,
          .optimiser = optimiser_options()};
}

void NetworkLearner::start(const NetworkSpec& spec) {
  spec_ = spec;
  if (splits_batch()) {
    const Blocks blocks(group_, experiment_.training.blocks, spec.batch);
    NetworkSpec of_block = spec;
    of_block.batch = blocks.samples();
    // Each of them adds it to its loss. The losses of heads are averaged, others are summed.
    if (!spec.head) of_block.gate_penalty /= static_cast<double>(blocks.count());
    program_ = make_blockwise_network(
        logic::make_network_program(device_, model_.network(), of_block), blocks, spec);
  } else {
    program_ = logic::make_network_program(device_, model_.network(), spec_);
  }
  program_layers_ = model_.network().layers();
  send_data();
  send_model();
}

void NetworkLearner::send_model() {
  const logic::Network& network = model_.network();
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    const logic::GateLayer& layer = network.layers()[i];
    if (layer.learns_wires()) program_->set_candidates(i, layer.candidates->view());
  }
  program_->set_parameters(logic::detached(model_.parameters()), model_.masks(),
                           network.input_mask());
}

void NetworkLearner::read_back() {
  Learner::read_back();
  model_.network().choose_wires();
}

bool NetworkLearner::program_has_wires_of_model() const {
  const auto& layers = model_.network().layers();
  return std::ranges::equal(layers, program_layers_, [](const auto& a, const auto& b) {
    if (a.learns_wires() || b.learns_wires()) return a.learns_wires() == b.learns_wires();
    return a.wiring == b.wiring || std::ranges::equal(a.wiring->sources(), b.wiring->sources());
  });
}

void NetworkLearner::load(const AdamWState& moments) {
  // A saved model has plain wires in place of learned ones.
  if (program_has_wires_of_model()) send_model();
  else start(spec_);
  program_->set_moments(moments.first, moments.second);
  updates_ = moments.step;
}

NetworkStepArguments NetworkLearner::arguments(std::int64_t step, double learning_rate) {
  const bool in_order = experiment_.training.batch == 0 || batch_size() == samples_;
  // A classifier's batch of all samples is shuffled like any other.
  if (in_order && !model_.classifier()) picked_.clear();
  else picked_ = order_.picked(step);
  const AugmentationOptions& augmentation = experiment_.training.augmentation;
  if (model_.classifier() && (augmentation.max_shift > 0 || augmentation.more_than_shifts())) {
    const data::DataFormat& format = model_.classifier()->format;
    transforms_ = random_transforms(
        augmentation, {.count = batch_size(), .height = format.height, .width = format.width},
        seed(), step);
  }
  frozen_ = frozen_gates();
  return {.step = step,
          .learning_rate = learning_rate,
          .samples = picked_,
          .transforms = transforms_,
          .hardening = hardening_step(step),
          .frozen = frozen_,
          .wire_temperature = wire_temperature(step),
          .head_temperature = experiment_.adapts_temperature()
                                  ? std::optional(model_.classifier()->head.temperature)
                                  : std::nullopt};
}

double NetworkLearner::wire_temperature(std::int64_t step) const {
  const NetworkOptions& network = experiment_.network;
  const std::int64_t last = experiment_.training.steps - 1;
  const double progress =
      last > 0 ? std::clamp(static_cast<double>(step) / static_cast<double>(last), 0.0, 1.0) : 1;
  return network.wire_temperature *
         std::pow(network.final_wire_temperature / network.wire_temperature, progress);
}

logic::RedrawnCandidates NetworkLearner::redrawn(std::size_t index, std::int64_t step) {
  const NetworkOptions& options = experiment_.network;
  const logic::GateLayer& layer = model_.network().layers()[index];
  if (options.redraw == RedrawKind::gradient) {
    const WireSignals signals = program_->wire_signals(arguments(step, 0), index);
    return logic::regrow_candidates(layer.candidates, layer.wire_logits, signals.inputs,
                                    signals.slot_gradients, options.redraw_share);
  }
  return logic::redraw_candidates(layer.candidates, layer.wire_logits,
                                  {.keep_above = options.redraw_keep,
                                   .redraw_below = options.redraw_below,
                                   .strength = options.wire_init_strength,
                                   .temperature = wire_temperature(step)},
                                  seed(), static_cast<std::uint32_t>(index),
                                  static_cast<std::uint32_t>(step));
}

void NetworkLearner::redraw_candidates(std::int64_t step) {
  const NetworkOptions& options = experiment_.network;
  const double until = options.redraw_until * static_cast<double>(experiment_.training.steps);
  if (options.redraw_every == 0 || step == 0 || step % options.redraw_every != 0 ||
      static_cast<double>(step) > until || !model_.network().learns_wires()) {
    return;
  }
  read_back();
  AdamWState state = moments();
  logic::Network& network = model_.network();
  // All before the first is set: the program may share the tensors of the model.
  std::vector<std::pair<std::size_t, logic::RedrawnCandidates>> all;
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    if (network.layers()[i].learns_wires()) all.emplace_back(i, redrawn(i, step));
  }
  std::size_t parameter = network.layers().size();  // the first wire logits
  for (const auto& [layer, redrawn] : all) {
    network.set_candidates(layer, redrawn.candidates, redrawn.logits);
    logic::clear_where(redrawn.is_new, state.first[parameter]);
    logic::clear_where(redrawn.is_new, state.second[parameter]);
    ++parameter;
  }
  const std::int64_t updates = updates_;
  load(state);
  updates_ = updates;
}

StepResult NetworkLearner::take_step(std::int64_t step, double learning_rate) {
  redraw_candidates(step);
  const StepResult result = program_->step(arguments(step, learning_rate));
  if (result.finite) adapt_temperature(result.sum_deviation);
  return result;
}

void NetworkLearner::adapt_temperature(double sum_deviation) {
  if (!experiment_.adapts_temperature()) return;
  Head& head = model_.classifier()->head;
  const std::int64_t size = model_.network().outputs() / head.groups();
  const auto outputs_per_class = static_cast<double>(size << experiment_.head.trained_exponent());
  head.temperature = logic::adapted_temperature(
      head.temperature, sum_deviation, experiment_.head.temperature_target, outputs_per_class);
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
  CircuitLearner(const Experiment& experiment, const Device& device, Group& group,
                 const data::BooleanTask& task)
      : NetworkLearner(experiment, device, group,
                       Model(make_network(experiment, task.input_count(), task.output_count())),
                       task.cases()),
        cases_(task, experiment.network.dtype) {
    start(spec_for(batch_of(experiment, task.cases())));
  }

  Evaluation evaluate() override {
    return evaluation_of(program().evaluate(wire_temperature(updates_)), cases_, experiment().loss);
  }
  double hard_loss() const override {
    const NoGrad off_the_tape;
    const Tensor outputs =
        logic::unpack_bits(model().network().hard(logic::pack_bits(cases_.inputs)), DType::uint8);
    double errors = 0;
    for (std::int64_t i = 0; i < outputs.size(); ++i) {
      errors += (outputs.at(i) > 0.5) != (cases_.targets.at(i) > 0.5) ? 1 : 0;
    }
    return errors;
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
            .classes = std::ssize(samples.format.classes),
            .temperature = experiment.head.temperature};
  if (head.kind == HeadKind::regression) {
    const auto [low, high] = std::ranges::minmax(samples.train.labels.values<float>());
    if (low == high) fail("data", "expected labels that differ, received only {}", low);
    head.low = low;
    head.high = high;
  }
  if (head.kind == HeadKind::binary && head.classes != 2) {
    fail("data", "expected 2 classes for a binary head, received {}", head.classes);
  }
  return head;
}

/// The requested number, rounded up to equal groups.
std::int64_t output_count(const Experiment& experiment, const Head& head) {
  const std::int64_t groups = head.groups();
  return (experiment.head.outputs + groups - 1) / groups * groups;
}

/// For every bit, the range of its feature in the training samples.
Tensor ranges_of(const Tensor& samples, const logic::Thresholds& thresholds) {
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

/// The positions of the inputs in images, if wires come from a window.
std::vector<logic::ImagePosition> positions_of(const Experiment& experiment,
                                               const TrainingSamples& samples,
                                               const logic::Thresholds& thresholds) {
  if (experiment.network.wiring != WiringKind::window) return {};
  const std::int64_t height = samples.format.height;
  const std::int64_t width = samples.format.width;
  if (!samples.format.is_image()) {
    fail("data", "expected images for network.wiring = window, received other samples");
  }
  const std::int64_t window = experiment.network.window;
  if (window > std::max(height, width)) {
    fail("data", "expected network.window of at most {}, the side of the images, received {}",
         std::max(height, width), window);
  }
  std::vector<logic::ImagePosition> positions;
  for (const std::int64_t feature : thresholds.sources()) {
    positions.push_back({.x = static_cast<std::int32_t>(feature % width),
                         .y = static_cast<std::int32_t>(feature / width % height)});
  }
  return positions;
}

/// The thresholds of all features, or those that the pixels of images share.
logic::Thresholds thresholds_of(const Experiment& experiment, const TrainingSamples& samples) {
  const Tensor& features = samples.train.features;
  const data::BinarisationOptions& options = experiment.binarise.thresholds;
  const bool has_convolutions = experiment.convolution.size() > 0;
  if (!options.shared && !has_convolutions) return data::make_thresholds(features, options);
  if (!samples.format.is_image()) {
    fail("data", "expected images for {}, received other samples",
         has_convolutions ? "convolution.kernels" : "binarise.shared");
  }
  return data::make_shared_thresholds(features, samples.format.channels, options);
}

/// The images that convolutions read. Each threshold of a channel is a channel of bits.
logic::ImageSize image_size_of(const Experiment& experiment, const TrainingSamples& samples,
                               std::int64_t bits) {
  if (experiment.convolution.size() == 0) return {};
  const data::DataFormat& format = samples.format;
  return {.channels = bits / (format.height * format.width),
          .height = format.height,
          .width = format.width};
}

Model initial_classifier(const Experiment& experiment, const TrainingSamples& samples) {
  Classifier classifier{thresholds_of(experiment, samples), head_of(experiment, samples),
                        samples.format, samples.train.features.dtype() == DType::uint8};
  const std::int64_t bits = classifier.thresholds.bits();
  if (experiment.binarise.learn) {
    classifier.threshold_offsets = parameter(Tensor::zeros({bits}, DType::float32));
  }
  const std::int64_t outputs = output_count(experiment, classifier.head);
  if (experiment.head.weights == HeadWeights::powers) {
    classifier.weight_exponents = parameter(Tensor::zeros({outputs}, DType::float32));
    classifier.head.exponents =
        logic::rounded_exponents(classifier.weight_exponents, experiment.head.max_exponent);
  }
  const ImageInputs images{.positions = positions_of(experiment, samples, classifier.thresholds),
                           .size = image_size_of(experiment, samples, bits)};
  logic::Network network = make_network(experiment, bits, outputs, images);
  return {std::move(network), std::move(classifier)};
}

/// Throws if the samples are not images, or too small for the cut-out.
void check_augmentation(const AugmentationOptions& options, const data::DataFormat& format) {
  const char* key = options.max_shift > 0      ? "training.max_shift"
                    : options.max_rotation > 0 ? "training.max_rotation"
                    : options.max_scale > 0    ? "training.max_scale"
                    : options.flip             ? "training.flip"
                    : options.cutout > 0       ? "training.cutout"
                                               : nullptr;
  if (key == nullptr) return;
  if (!format.is_image()) fail("data", "expected images for {}, received other samples", key);
  const std::int64_t side = std::min(format.height, format.width);
  if (options.cutout > side) {
    fail("data", "expected training.cutout of at most {}, the side of the images, received {}",
         side, options.cutout);
  }
}

class ClassifierLearner final : public NetworkLearner {
 public:
  ClassifierLearner(const Experiment& experiment, const Device& device, Group& group,
                    std::shared_ptr<const TrainingSamples> samples)
      : NetworkLearner(experiment, device, group, initial_classifier(experiment, *samples),
                       samples->train.count()),
        data_(std::move(samples)),
        base_(model().classifier()->thresholds) {
    check_augmentation(experiment.training.augmentation, data_->format);
    if (experiment.binarise.learn) ranges_ = ranges_of(data_->train.features, base_);
    const TeacherOptions& teacher = experiment.training.teacher;
    if (!teacher.path.empty()) soft_targets_ = soft_targets(teacher, *data_);
    start(spec_for(batch_of(experiment, data_->train.count())));
  }

  void read_back() override {
    NetworkLearner::read_back();
    Classifier& classifier = *model().classifier();
    if (classifier.weight_exponents.defined()) {
      classifier.head.exponents =
          logic::rounded_exponents(classifier.weight_exponents, experiment().head.max_exponent);
    }
    if (!classifier.threshold_offsets.defined()) return;
    const NoGrad off_the_tape;
    const auto sources = base_.sources();
    classifier.thresholds =
        logic::Thresholds(base_.features(), {sources.begin(), sources.end()},
                          add(base_.values(), multiply(classifier.threshold_offsets, ranges_)));
  }

  Evaluation evaluate() override {
    // The head needs the weights of the program.
    if (model().classifier()->weight_exponents.defined()) read_back();
    const Head& head = model().classifier()->head;
    const Tensor& labels = evaluated().labels;
    return evaluation_of(predictions_of(program().evaluate(wire_temperature(updates_)), head,
                                        model().network().outputs(), labels),
                         head, labels);
  }
  double hard_loss() const override {
    const Head& head = model().classifier()->head;
    return evaluation_of(predict(model(), evaluated()), head, evaluated().labels).hard_loss;
  }

 private:
  /// The validation samples or, if there are none, the training samples.
  const data::SampleSet& evaluated() const {
    return data_->validation.count() > 0 ? data_->validation : data_->train;
  }

  FeatureSamples features_of(const data::SampleSet& samples) const {
    return {.features = samples.features,
            .sources = base_.sources(),
            .thresholds = base_.values().values<float>(),
            .height = data_->format.height,
            .width = data_->format.width,
            .ranges = ranges_.defined() ? ranges_.values<float>() : std::span<const float>(),
            .width_share = experiment().binarise.width};
  }
  void send_data() override {
    FeatureSamples train = features_of(data_->train);
    train.soft_targets = soft_targets_;
    program().set_samples(DataRole::training, train, data_->train.labels);
    if (data_->validation.count() == 0) return;
    program().set_samples(DataRole::evaluation, features_of(data_->validation),
                          data_->validation.labels);
  }
  double loss_terms() const override { return 1; }

  std::shared_ptr<const TrainingSamples> data_;
  logic::Thresholds base_;  ///< initial thresholds
  Tensor soft_targets_;     ///< of the training samples, if there is a teacher
  Tensor ranges_;  ///< of features, if thresholds are trained: offsets are relative to them
};

}  // namespace

std::unique_ptr<Learner> make_circuit_learner(const Experiment& experiment, const Device& device,
                                              Group& group) {
  return std::make_unique<CircuitLearner>(experiment, device, group, make_task(experiment));
}

std::unique_ptr<Learner> make_classifier_learner(const Experiment& experiment, const Device& device,
                                                 Group& group) {
  return std::make_unique<ClassifierLearner>(experiment, device, group,
                                             training_samples_of(experiment));
}

std::shared_ptr<const TrainingSamples> training_samples_of(const Experiment& experiment) {
  return load_training_samples(experiment, experiment.head.kind == HeadKind::regression);
}

}  // namespace boolgrad::train
