#include "boolgrad/automata/perception_layer.h"

#include <utility>

#include "boolgrad/automata/host_automaton.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::automata {
namespace {

constexpr std::int64_t neighbourhood = 9;
constexpr std::int64_t centre = 4;

// Variants: the three parametrisations.
constexpr int variant_count = 3;

Rule example_rule(int variant, DType dtype, std::uint64_t seed) {
  constexpr Parametrisation kinds[] = {Parametrisation::softmax16, Parametrisation::sigmoid,
                                       Parametrisation::walsh};
  return Rule::make({.channels = 2, .kernels = 3, .perceive = {8, 4, 2}, .update = {16}},
                    Border::zero, kinds[variant], dtype,
                    {.kind = logic::Initialisation::residual, .strength = 1}, seed);
}

logic::LayerResults run_example(int variant, const Device& device) {
  const Rule rule = example_rule(variant, DType::float32, 7);
  const RolloutSize size{.batch = 2, .height = 5, .width = 6, .steps = 3};
  const auto program = make_automaton_program(device, rule, {.size = size, .loss_channels = 2});
  const Shape shape{2, size.batch, size.height, size.width};
  const AutomatonInputs inputs{random_starts(shape, 1, 0), {}, random_starts(shape, 2, 0)};
  program->set_inputs(inputs);
  logic::LayerResults results{
      .loss = program->gradients({}), .gradients = {}, .soft = {}, .hard = {}};
  results.gradients = program->parameter_gradients();
  program->soft_rollout(size.batch, inputs, {}, results.soft);
  program->hard_rollout(size.batch, inputs, {});
  results.hard = program->hard_state();
  return results;
}

}  // namespace

PerceptionLayer::PerceptionLayer(logic::Network kernels, std::int64_t channels)
    : kernels_(std::move(kernels)), channels_(channels) {
  if (kernels_.inputs() != neighbourhood) {
    fail("perception", "expected kernels that read 9 values, received {}", kernels_.inputs());
  }
}

std::int64_t PerceptionLayer::inputs() const { return neighbourhood * channels_; }
std::int64_t PerceptionLayer::outputs() const { return channels_ * (1 + kernels_.outputs()); }

Tensor PerceptionLayer::soft(const Tensor& x) const {
  std::vector<Tensor> parts;
  for (std::int64_t c = 0; c < channels_; ++c) {
    const std::int64_t own = c * neighbourhood + centre;
    parts.push_back(slice(x, 0, own, own + 1));
  }
  for (std::int64_t c = 0; c < channels_; ++c) {
    parts.push_back(kernels_.soft(slice(x, 0, c * neighbourhood, (c + 1) * neighbourhood)));
  }
  return concatenate(parts);
}

Tensor PerceptionLayer::hard(const Tensor& x) const {
  std::vector<Tensor> parts;
  for (std::int64_t c = 0; c < channels_; ++c) {
    const std::int64_t own = c * neighbourhood + centre;
    parts.push_back(cast(slice(x, 0, own, own + 1), DType::int32));
  }
  for (std::int64_t c = 0; c < channels_; ++c) {
    const Tensor around = slice(x, 0, c * neighbourhood, (c + 1) * neighbourhood);
    parts.push_back(logic::unpack_bits(kernels_.hard(logic::pack_bits(around)), DType::int32));
  }
  return concatenate(parts);
}

std::vector<logic::Signal> PerceptionLayer::emit(std::span<const logic::Signal> inputs,
                                                 logic::GateSink& sink) const {
  if (std::ssize(inputs) != this->inputs()) {
    fail("emit", "expected {} inputs, received {}", this->inputs(), inputs.size());
  }
  std::vector<logic::Signal> signals;
  for (std::int64_t c = 0; c < channels_; ++c) {
    signals.push_back(inputs[static_cast<std::size_t>(c * neighbourhood + centre)]);
  }
  for (std::int64_t c = 0; c < channels_; ++c) {
    const auto around = inputs.subspan(static_cast<std::size_t>(c * neighbourhood), neighbourhood);
    for (const logic::Signal output : logic::emit(kernels_, {around.begin(), around.end()}, sink)) {
      signals.push_back(output);
    }
  }
  return signals;
}

const logic::LayerKind perception_layer_kind = {
    "perception",
    "kernels of gates over the 3x3 neighbourhood of every channel",
    {"automaton.kernels", "automaton.perceive"},
    {Feature::automata, Feature::walsh_automata},
    variant_count,
    [](int variant, DType dtype, std::uint64_t seed) -> std::unique_ptr<logic::Layer> {
      return std::make_unique<PerceptionLayer>(example_rule(variant, dtype, seed).perceive(), 2);
    },
    run_example};

}  // namespace boolgrad::automata
