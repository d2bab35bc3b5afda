#include "boolgrad/logic/layers/group_sum_layer.h"

#include <bit>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/gate_arithmetic.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

// Variants: a head with classes, a binary head, a regression head.
constexpr int variant_count = 3;

Head head_of_variant(int variant) {
  switch (variant) {
    case 0: return {.kind = HeadKind::classes, .classes = 3, .temperature = 2};
    case 1: return {.kind = HeadKind::binary, .classes = 2, .temperature = 1.5};
    default: return {.kind = HeadKind::regression, .classes = 0, .low = -1, .high = 3};
  }
}

LayerResults run_example(int variant, const Device& device) {
  constexpr std::int64_t samples = 19;
  constexpr std::int64_t inputs = 8;
  constexpr std::int64_t outputs = 12;
  const Head head = head_of_variant(variant);
  Network network(inputs, Parametrisation::sigmoid, DType::float32);
  network.add_layer(random_wiring({.inputs = inputs, .gates = outputs, .arity = 3}, 5, 0),
                    initial_logits(Parametrisation::sigmoid, outputs, 3, DType::float32,
                                   {.kind = Initialisation::gaussian, .strength = 1}, 5, 0));
  Tensor x({inputs, samples}, DType::float32);
  RandomAddress at{.seed = 4};
  for (float& value : x.mutable_values<float>()) {
    value = random_uniform(at) < 0.5 ? 0 : 1;
    ++at.index;
  }
  const bool is_value = head.kind == HeadKind::regression;
  Tensor labels({samples}, is_value ? DType::float32 : DType::int32);
  for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s) {
    if (is_value) {
      labels.mutable_values<float>()[s] = static_cast<float>(s % 5) - 1;
    } else {
      labels.mutable_values<std::int32_t>()[s] =
          static_cast<std::int32_t>(s) % static_cast<std::int32_t>(head.classes);
    }
  }
  const auto program = make_network_program(device, network,
                                            {.batch = samples,
                                             .parametrisation = Parametrisation::sigmoid,
                                             .head = head,
                                             .label_smoothing = is_value ? 0 : 0.1});
  program->set_cases(DataRole::training, x, labels);
  program->set_parameters(network.parameters(), masks_of(network), network.input_mask());
  return results_of(*program);
}

}  // namespace

GroupSumLayer::GroupSumLayer(std::int64_t inputs, std::int64_t groups)
    : inputs_(inputs), groups_(groups) {
  if (groups < 1 || inputs < groups || inputs % groups != 0) {
    fail("group_sums", "expected a multiple of {} inputs, received {}", groups, inputs);
  }
}

int GroupSumLayer::output_digits() const {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(inputs_ / groups_)));
}

Tensor GroupSumLayer::soft(const Tensor& x) const { return group_sums(x, groups_); }

Tensor GroupSumLayer::hard(const Tensor& x) const {
  return cast(group_counts(pack_bits(x), groups_), DType::int32);
}

std::vector<Signal> GroupSumLayer::emit(std::span<const Signal> inputs, GateSink& sink) const {
  std::vector<Signal> digits;
  for (const SignalNumber& sum : emit_group_sums(inputs, groups_, sink)) {
    for (int d = 0; d < output_digits(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      digits.push_back(at < sum.size() ? sum[at] : sink.constant(false));
    }
  }
  return digits;
}

const LayerKind group_sum_layer_kind = {
    "group_sum",
    "the number of ones in each of several equal groups, the input of a head",
    {"head."},
    {Feature::head_classes, Feature::head_binary, Feature::head_regression,
     Feature::label_smoothing},
    variant_count,
    [](int variant, DType /*dtype*/, std::uint64_t /*seed*/) -> std::unique_ptr<Layer> {
      return std::make_unique<GroupSumLayer>(12, variant == 0 ? 3 : variant == 1 ? 1 : 4);
    },
    run_example};

}  // namespace boolgrad::logic
