#include "boolgrad/logic/layers/lut_layer.h"

#include <utility>

#include "boolgrad/logic/host_network.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

// Variants: softmax16 with two inputs, then sigmoid and walsh with one to six.
constexpr int max_arity = 6;
constexpr int variant_count = 1 + 2 * max_arity;
constexpr std::int64_t example_inputs = 9;
constexpr std::int64_t example_gates = 7;

Parametrisation parametrisation_of_variant(int variant) {
  if (variant == 0) return Parametrisation::softmax16;
  return variant <= max_arity ? Parametrisation::sigmoid : Parametrisation::walsh;
}
int arity_of_variant(int variant) { return variant == 0 ? 2 : (variant - 1) % max_arity + 1; }

std::unique_ptr<LutLayer> example_layer(int variant, DType dtype, std::uint64_t seed) {
  const Parametrisation parametrisation = parametrisation_of_variant(variant);
  const int arity = arity_of_variant(variant);
  auto layer = std::make_unique<LutLayer>(
      random_wiring({.inputs = example_inputs, .gates = example_gates, .arity = arity}, seed, 0),
      parametrisation,
      initial_logits(parametrisation, example_gates, arity, dtype,
                     {.kind = Initialisation::residual, .strength = 1}, seed, 0));
  Tensor mask = Tensor::ones({example_gates}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    mask.mutable_values<decltype(zero)>()[2] = convert<decltype(zero)>(0);
  });
  layer->set_mask(mask);
  return layer;
}

LayerResults run_example(int variant, const Device& device) {
  constexpr std::int64_t samples = 21;
  const Parametrisation parametrisation = parametrisation_of_variant(variant);
  const int arity = arity_of_variant(variant);
  Network network(example_inputs, parametrisation, DType::float32);
  for (std::uint32_t i = 0; i < 2; ++i) {
    network.add_layer(
        random_wiring({.inputs = network.outputs(), .gates = example_gates + i, .arity = arity}, 3,
                      i),
        initial_logits(parametrisation, example_gates + i, arity, DType::float32,
                       {.kind = Initialisation::residual, .strength = 1}, 3, i));
  }
  Tensor mask = Tensor::ones({example_gates}, DType::float32);
  mask.mutable_values<float>()[2] = 0;
  network.set_mask(0, mask);
  const auto program =
      make_network_program(device, network, {.batch = samples, .parametrisation = parametrisation});
  program->set_cases(DataRole::training, example_values({example_inputs, samples}, 1),
                     example_values({network.outputs(), samples}, 2));
  program->set_parameters(network.parameters(), masks_of(network), network.input_mask());
  return results_of(*program);
}

}  // namespace

LutLayer::LutLayer(WiringPtr wiring, Parametrisation parametrisation, const Tensor& logits)
    : network_(wiring->inputs(), parametrisation, logits.dtype()) {
  network_.add_layer(std::move(wiring), logits);
}

Tensor LutLayer::hard(const Tensor& x) const {
  return unpack_bits(network_.hard(pack_bits(x)), DType::int32);
}

std::vector<Signal> LutLayer::emit(std::span<const Signal> inputs, GateSink& sink) const {
  return logic::emit(network_, {inputs.begin(), inputs.end()}, sink);
}

const LayerKind lut_layer_kind = {
    "lut",
    "gates as look-up tables of 1 to 6 inputs, each wired to any inputs of the layer",
    {"network."},
    {Feature::softmax16, Feature::sigmoid, Feature::walsh, Feature::arity_2, Feature::other_arities,
     Feature::masks},
    variant_count,
    [](int variant, DType dtype, std::uint64_t seed) -> std::unique_ptr<Layer> {
      return example_layer(variant, dtype, seed);
    },
    run_example};

}  // namespace boolgrad::logic
