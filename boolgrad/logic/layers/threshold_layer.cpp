#include "boolgrad/logic/layers/threshold_layer.h"

#include <array>
#include <cmath>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/logic/image_transforms.h"
#include "boolgrad/ops/activation.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

// Variants: fixed thresholds, learned thresholds, learned thresholds with transformed images.
constexpr int variant_count = 3;
constexpr std::int64_t byte_values = 256;

std::unique_ptr<ThresholdLayer> example_layer(DType dtype, std::uint64_t seed) {
  const std::vector<std::int32_t> sources = {0, 0, 1, 2, 2, 2};
  Tensor thresholds({std::ssize(sources)}, dtype);
  Tensor widths({std::ssize(sources)}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    RandomAddress at{.seed = seed};
    for (std::size_t b = 0; b < sources.size(); ++b) {
      // Between integers, so that no feature equals a threshold.
      const double sampled = std::floor(random_uniform(at) * byte_values) - 0.5;
      ++at.index;
      thresholds.mutable_values<T>()[b] = convert<T>(sampled);
      widths.mutable_values<T>()[b] = convert<T>(40.0 + static_cast<double>(b));
    }
  });
  return std::make_unique<ThresholdLayer>(3, sources, thresholds, widths);
}

LayerResults run_example(int variant, const Device& device) {
  constexpr std::int64_t samples = 24;
  constexpr std::int64_t side = 3;
  constexpr std::int64_t features = side * side;
  Tensor images({samples, features}, DType::uint8);
  Tensor labels({samples}, DType::int32);
  RandomAddress at{.seed = 8};
  for (std::uint8_t& value : images.mutable_values<std::uint8_t>()) {
    value = static_cast<std::uint8_t>(random_uniform(at) * byte_values);
    ++at.index;
  }
  for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s) {
    labels.mutable_values<std::int32_t>()[s] = static_cast<std::int32_t>(s % 2);
  }
  std::vector<std::int32_t> sources;
  std::vector<float> thresholds;
  for (std::int32_t bit = 0; bit < 2 * features; ++bit) {
    sources.push_back(bit / 2);
    thresholds.push_back(bit % 2 == 0 ? 80.5F : 170.5F);
  }
  const std::vector<float> ranges(sources.size(), variant > 0 ? 255.0F : 0.0F);
  const auto bits = std::ssize(sources);
  Network network(bits, Parametrisation::softmax16, DType::float32);
  network.add_layer(random_wiring({.inputs = bits, .gates = 20}, 6, 0),
                    initial_logits(Parametrisation::softmax16, 20, 2, DType::float32,
                                   {.kind = Initialisation::residual, .strength = 2}, 6, 0));
  const auto program = make_network_program(
      device, network,
      {.batch = samples,
       .parametrisation = Parametrisation::softmax16,
       .head = Head{.kind = HeadKind::classes, .classes = 2, .temperature = 2}});
  program->set_samples(
      DataRole::training,
      {.features = images,
       .sources = sources,
       .thresholds = thresholds,
       .height = side,
       .width = side,
       .ranges = variant > 0 ? std::span<const float>(ranges) : std::span<const float>()},
      labels);
  std::vector<Tensor> parameters = network.parameters();
  if (variant > 0) parameters.push_back(Tensor::full({bits}, 0.01, DType::float32));
  program->set_parameters(parameters, masks_of(network), network.input_mask());
  std::vector<std::int64_t> order;
  std::vector<ImageTransform> transforms;
  for (std::int64_t s = 0; s < samples; ++s) {
    order.push_back((s * 5) % samples);
    transforms.push_back(image_transform({.degrees = s % 4 == 0 ? 30.0 : 0.0,
                                          .right = static_cast<std::int32_t>(s % 3) - 1,
                                          .down = static_cast<std::int32_t>(s % 2)},
                                         side, side));
  }
  NetworkStepArguments arguments{.samples = order};
  if (variant == 2) arguments.transforms = transforms;
  return results_of(*program, arguments);
}

}  // namespace

ThresholdLayer::ThresholdLayer(std::int64_t features, std::vector<std::int32_t> sources,
                               const Tensor& thresholds, const Tensor& widths)
    : features_(features),
      sources_(std::move(sources)),
      thresholds_(parameter(thresholds.clone())),
      widths_(widths.clone()) {}

Tensor ThresholdLayer::soft(const Tensor& x) const {
  return threshold_bits(x, thresholds_, sources_, widths_);
}

Tensor ThresholdLayer::differentiated(const Tensor& x) const {
  std::vector<Tensor> rows;
  for (std::size_t b = 0; b < sources_.size(); ++b) {
    const auto bit = static_cast<std::int64_t>(b);
    const Tensor feature = slice(x, 0, sources_[b], sources_[b] + 1);
    const Tensor threshold = reshape(slice(thresholds_, 0, bit, bit + 1), {1, 1});
    rows.push_back(sigmoid(scale(subtract(feature, threshold), 1 / widths_.at(bit))));
  }
  return concatenate(rows);
}

Tensor ThresholdLayer::hard(const Tensor& x) const {
  Tensor result({outputs(), x.shape()[1]}, DType::int32);
  for (std::int64_t b = 0; b < outputs(); ++b) {
    for (std::int64_t s = 0; s < x.shape()[1]; ++s) {
      const double value = x.at(sources_[static_cast<std::size_t>(b)] * x.shape()[1] + s);
      result.mutable_values<std::int32_t>()[static_cast<std::size_t>(b * x.shape()[1] + s)] =
          value > thresholds_.at(b) ? 1 : 0;
    }
  }
  return result;
}

// For a byte x, x > t is x > floor(t). From the lowest digit up, x is greater where its digit is 1
// and that of the constant 0, or where the digits are equal and x is greater in the lower digits.
std::vector<Signal> ThresholdLayer::emit(std::span<const Signal> inputs, GateSink& sink) const {
  constexpr std::uint64_t conjunction = 0b1000;
  constexpr std::uint64_t disjunction = 0b1110;
  std::vector<Signal> bits;
  for (std::size_t b = 0; b < sources_.size(); ++b) {
    const double threshold = std::floor(thresholds_.at(static_cast<std::int64_t>(b)));
    if (threshold < 0 || threshold >= byte_values - 1) {
      bits.push_back(sink.constant(threshold < 0));
      continue;
    }
    const auto constant = static_cast<unsigned>(threshold);
    Signal greater = sink.constant(false);
    for (int d = 0; d < input_digits(); ++d) {
      const std::int64_t at = std::int64_t{sources_[b]} * input_digits() + d;
      const std::array<Signal, 2> pair = {inputs[static_cast<std::size_t>(at)], greater};
      const bool digit = ((constant >> d) & 1) != 0;
      greater = sink.gate(pair, digit ? conjunction : disjunction);
    }
    bits.push_back(greater);
  }
  return bits;
}

const LayerKind threshold_layer_kind = {
    "threshold",
    "bits that are 1 where a feature exceeds a threshold, fixed or learned",
    {"binarise."},
    {Feature::thresholds, Feature::learned_thresholds, Feature::image_shifts,
     Feature::image_transforms},
    variant_count,
    [](int /*variant*/, DType dtype, std::uint64_t seed) -> std::unique_ptr<Layer> {
      return example_layer(dtype, seed);
    },
    run_example};

}  // namespace boolgrad::logic
