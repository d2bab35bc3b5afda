#include "boolgrad/train/learners/classifier_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/error.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/learners/problem.h"
#include "boolgrad/train/learners/training_outputs.h"

namespace boolgrad {
namespace {

constexpr const char* heights_name = "thresholds.heights";

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

}  // namespace

ClassifierLearner::ClassifierLearner(const Experiment& experiment)
    : experiment_(experiment),
      samples_(load_training_samples(experiment)),
      initial_(make_thresholds(samples_.train.features, experiment.binarise.levels)),
      head_(head_of(experiment, samples_)),
      network_(make_network(experiment, initial_.bits(), output_count(experiment, head_))),
      order_(samples_.train.count(), batch_size(), static_cast<std::uint64_t>(experiment.seed)),
      hardening_(experiment.hardening) {
  if (experiment.training.shift > 0 && !samples_.form.is_picture()) {
    fail("data", "expected pictures for training.shift, received other samples");
  }
  if (experiment.binarise.learn) {
    places_ = initial_.levels();
    ranges_ = ranges_of(samples_.train.features, initial_);
    heights_ = parameter(Tensor::zeros({initial_.bits()}, DType::float32));
  } else if (experiment.training.shift == 0) {
    rows_ = initial_.bytes_of(samples_.train.features);
  }
}

Tensor ClassifierLearner::levels() const {
  return heights_.defined() ? add(places_, multiply(heights_, ranges_)) : initial_.levels();
}

Classifier ClassifierLearner::classifier() const {
  const NoGrad off_the_tape;
  const auto sources = initial_.sources();
  return {Thresholds(initial_.features(), {sources.begin(), sources.end()}, levels()), head_,
          samples_.form, samples_.train.features.dtype() == DType::uint8};
}

const SampleSet& ClassifierLearner::judged() const {
  return samples_.validation.count() > 0 ? samples_.validation : samples_.train;
}

std::int64_t ClassifierLearner::batch_size() const {
  const std::int64_t size = experiment_.training.batch;
  return size == 0 ? samples_.train.count() : std::min(size, samples_.train.count());
}

std::int64_t ClassifierLearner::steps_per_epoch() const {
  return (samples_.train.count() + batch_size() - 1) / batch_size();
}

std::vector<std::vector<bool>> ClassifierLearner::active_gates() const {
  return boolgrad::active_gates(network_);
}

std::vector<Tensor> ClassifierLearner::parameters() const {
  std::vector<Tensor> result = network_.parameters();
  if (heights_.defined()) result.push_back(heights_);
  return result;
}

std::vector<ImageShift> ClassifierLearner::moves(std::int64_t step) const {
  const std::int64_t most = experiment_.training.shift;
  if (most == 0) return {};
  return drawn_moves(batch_size(), most, static_cast<std::uint64_t>(experiment_.seed), step);
}

Tensor ClassifierLearner::batch_inputs(std::int64_t step,
                                       const std::vector<std::int64_t>& picked) const {
  const DType dtype = network_.dtype();
  if (rows_.defined()) return columns_of_rows(rows_, picked, dtype);
  const Tensor moved =
      experiment_.training.shift == 0
          ? picked_samples(samples_.train, picked).features
          : moved_pictures(samples_.train.features, samples_.form, picked, moves(step));
  std::vector<std::int64_t> all(picked.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  if (!heights_.defined()) return columns_of_rows(initial_.bytes_of(moved), all, dtype);
  const Tensor rows = cast(moved, DType::float32);
  Tensor x({rows.shape()[1], rows.shape()[0]}, DType::float32);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    x.mutable_values<float>()[static_cast<std::size_t>(i)] =
        rows.values<float>()[static_cast<std::size_t>(i % rows.shape()[0] * rows.shape()[1] +
                                                      i / rows.shape()[0])];
  }
  const Tensor widths = scale(ranges_, experiment_.binarise.width);
  return cast(threshold_bits(x, levels(), initial_.sources(), widths), dtype);
}

Tensor ClassifierLearner::loss(std::int64_t step) {
  const std::vector<std::int64_t> now = picked(step);
  Tensor labels({std::ssize(now)}, samples_.train.labels.dtype());
  visit_dtype(labels.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < now.size(); ++i) {
      labels.mutable_values<T>()[i] =
          samples_.train.labels.values<T>()[static_cast<std::size_t>(now[i])];
    }
  });
  const Tensor y =
      training_outputs(network_, batch_inputs(step, now), hardening_, experiment_, step);
  return head_loss(head_, y, labels, experiment_.training.label_smoothing);
}

Evaluation ClassifierLearner::evaluate() const {
  return evaluation_of(predict(network_, classifier(), judged()), head_, judged().labels);
}

TensorFile ClassifierLearner::to_file() const {
  TensorFile file = network_.to_file();
  classifier().save(file);
  if (heights_.defined()) file.tensors[heights_name] = heights_.detach();
  return file;
}

void ClassifierLearner::restore(const TensorFile& file) {
  network_ = LogicNetwork::from_file(file);
  if (!heights_.defined()) return;
  heights_ = parameter(file.tensors.at(heights_name).clone());
}

void ClassifierLearner::knock_out() { boolgrad::knock_out(experiment_, network_); }

std::int64_t ClassifierLearner::masked() const { return masked_count(network_); }

}  // namespace boolgrad
