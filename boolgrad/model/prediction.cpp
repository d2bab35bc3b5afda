#include "boolgrad/model/prediction.h"

#include <cmath>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/model/device_evaluation.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

void check_features(const Tensor& samples, std::int64_t features) {
  if (samples.rank() != 2 || samples.shape()[1] != features) {
    fail("predict", "expected samples [samples, {}], received {}", features,
         to_string(samples.shape()));
  }
}

}  // namespace

HardClassifier::HardClassifier(Classifier classifier, const circuit::Netlist& netlist)
    : classifier_(std::move(classifier)),
      runner_(netlist,
              {.classes = classifier_.head.groups(), .exponents = classifier_.head.exponents}),
      reached_(circuit::reached_nets(netlist)) {}

Tensor HardClassifier::sums_of(const logic::BitMatrix& bits) const {
  const auto groups = static_cast<std::size_t>(classifier_.head.groups());
  const auto count = static_cast<std::size_t>(bits.samples);
  std::vector<std::int32_t> sums(count * groups);
  if (count > 0) runner_.group_sums(bits, sums);
  Tensor by_group({classifier_.head.groups(), bits.samples}, DType::float64);
  const auto to = by_group.mutable_values<double>();
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t g = 0; g < groups; ++g) to[g * count + s] = sums[s * groups + g];
  }
  return by_group;
}

std::vector<double> HardClassifier::predictions_of(const logic::BitMatrix& bits) const {
  return logic::predictions(classifier_.head, sums_of(bits), runner_.outputs());
}

void HardClassifier::group_sums(const Tensor& samples, std::span<std::int32_t> sums) const {
  check_features(samples, classifier_.thresholds.features());
  runner_.group_sums(classifier_.thresholds.bits_of(samples), sums);
}

Tensor HardClassifier::sums(const Tensor& samples) const {
  check_features(samples, classifier_.thresholds.features());
  return sums_of(classifier_.thresholds.bits_of(samples));
}

std::vector<double> HardClassifier::predict(const Tensor& samples) const {
  check_features(samples, classifier_.thresholds.features());
  return predictions_of(classifier_.thresholds.bits_of(samples));
}

std::vector<double> HardClassifier::influences(const Tensor& samples) const {
  check_features(samples, classifier_.thresholds.features());
  if (samples.shape()[0] == 0) fail("influences", "expected at least one sample, received none");
  const Head& head = classifier_.head;
  const bool has_values = head.kind == HeadKind::regression;
  logic::BitMatrix bits = classifier_.thresholds.bits_of(samples);
  const std::vector<double> before = predictions_of(bits);
  const auto words = static_cast<std::size_t>(bits.words_per_feature());
  const auto flip = [&](std::size_t bit) {
    for (std::size_t w = 0; w < words; ++w) bits.words[bit * words + w] ^= ~std::uint64_t{0};
  };
  std::vector<double> result(static_cast<std::size_t>(bits.features));
  for (std::size_t bit = 0; bit < result.size(); ++bit) {
    if (!reached_[bit]) continue;
    flip(bit);
    const std::vector<double> after = predictions_of(bits);
    flip(bit);
    double change = 0;
    for (std::size_t s = 0; s < before.size(); ++s) {
      if (has_values) change += std::abs(after[s] - before[s]) / (head.high - head.low);
      else if (after[s] != before[s]) change += 1;
    }
    result[bit] = change / static_cast<double>(before.size());
  }
  return result;
}

std::vector<double> HardClassifier::feature_influences(const Tensor& samples) const {
  const std::vector<double> by_bit = influences(samples);
  std::vector<double> by_feature(static_cast<std::size_t>(classifier_.thresholds.features()), 0);
  for (std::size_t bit = 0; bit < by_bit.size(); ++bit) {
    by_feature[static_cast<std::size_t>(classifier_.thresholds.sources()[bit])] += by_bit[bit];
  }
  return by_feature;
}

Tensor soft_sums(const Model& model, const Tensor& samples, const Device& device) {
  if (!model.classifier()) {
    fail("predict", "expected a classifier, received {}",
         model.is_automaton() ? "an automaton" : "a circuit");
  }
  const Classifier& classifier = *model.classifier();
  check_features(samples, classifier.thresholds.features());
  const std::int64_t count = samples.shape()[0];
  if (count == 0) return Tensor({classifier.head.groups(), 0}, DType::float64);
  // The scores do not depend on labels.
  const bool has_values = classifier.head.kind == HeadKind::regression;
  const Tensor labels = Tensor::zeros({count}, has_values ? DType::float32 : DType::int32);
  return cast(scores_of(model, {samples, labels}, device).soft, DType::float64);
}

Tensor soft_outputs(const logic::Network& network, const Tensor& inputs) {
  if (inputs.rank() != 2 || inputs.shape()[1] != network.inputs()) {
    fail("predict", "expected inputs [samples, {}], received {}", network.inputs(),
         to_string(inputs.shape()));
  }
  const NoGrad off_the_tape;
  if (inputs.shape()[0] == 0) return Tensor({0, network.outputs()}, network.dtype());
  return transpose(network.soft(transpose(cast(inputs, network.dtype()))));
}

}  // namespace boolgrad
