#include "boolgrad/logic/layers/selection_layer.h"

#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

/// The combinations that the tests cover.
struct Variant {
  WireForward forward;
  std::int64_t candidates;  ///< 0: all
  int arity;
  Parametrisation parametrisation;
};

constexpr Variant variants[] = {
    {WireForward::hard, 4, 2, Parametrisation::softmax16},
    {WireForward::hard, 4, 1, Parametrisation::sigmoid},
    {WireForward::hard, 4, 2, Parametrisation::sigmoid},
    {WireForward::hard, 3, 3, Parametrisation::walsh},
    {WireForward::hard, 5, 6, Parametrisation::sigmoid},
    {WireForward::hard, 0, 2, Parametrisation::sigmoid},
    {WireForward::hard, 0, 4, Parametrisation::walsh},
    {WireForward::soft, 4, 2, Parametrisation::softmax16},
    {WireForward::soft, 2, 2, Parametrisation::walsh},
    {WireForward::soft, 4, 5, Parametrisation::sigmoid},
    {WireForward::soft, 0, 2, Parametrisation::softmax16},
    {WireForward::soft, 0, 3, Parametrisation::sigmoid},
};

constexpr std::int64_t example_inputs = 9;
constexpr std::int64_t example_gates = 7;

CandidatesPtr example_candidates(const Variant& variant, std::int64_t inputs, std::int64_t gates,
                                 std::uint64_t seed, std::uint32_t layer) {
  return random_candidates({.inputs = inputs, .gates = gates, .arity = variant.arity},
                           variant.candidates == 0 ? inputs : variant.candidates, seed, layer);
}

/// Two layers with learned wires and one with fixed wires between them.
LayerResults run_example(int number, const Device& device) {
  constexpr std::int64_t samples = 21;
  const Variant& variant = variants[number];
  Network network(example_inputs, variant.parametrisation, DType::float32);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::int64_t gates = example_gates + i;
    const Tensor logits =
        initial_logits(variant.parametrisation, gates, variant.arity, DType::float32,
                       {.kind = Initialisation::residual, .strength = 1}, 3, i);
    if (i == 1) {
      network.add_layer(
          random_wiring({.inputs = network.outputs(), .gates = gates, .arity = variant.arity}, 3,
                        i),
          logits);
      continue;
    }
    CandidatesPtr candidates = example_candidates(variant, network.outputs(), gates, 3, i);
    const Tensor wire_logits = initial_wire_logits(*candidates, DType::float32, 1, 3, i);
    network.add_layer(std::move(candidates), wire_logits, logits);
  }
  Tensor mask = Tensor::ones({example_gates}, DType::float32);
  mask.mutable_values<float>()[2] = 0;
  network.set_mask(0, mask);
  const auto program = make_network_program(device, network,
                                            {.batch = samples,
                                             .parametrisation = variant.parametrisation,
                                             .wire_forward = variant.forward});
  program->set_cases(DataRole::training, example_values({example_inputs, samples}, 1),
                     example_values({network.outputs(), samples}, 2));
  program->set_parameters(network.parameters(), masks_of(network), network.input_mask());
  return results_of(*program, {.wire_temperature = 0.7});
}

}  // namespace

SelectionLayer::SelectionLayer(CandidatesPtr candidates, const Tensor& logits, WireForward forward)
    : candidates_(std::move(candidates)),
      logits_(parameter(logits.clone())),
      initial_logits_(logits.clone()),
      forward_(forward) {}

Tensor SelectionLayer::soft(const Tensor& x) const {
  return select_wires(x, logits_, candidates_, forward_);
}

Tensor SelectionLayer::differentiated(const Tensor& x) const {
  if (forward_ == WireForward::soft) return soft(x);
  const auto mixture = [&](const Tensor& logits) {
    return select_wires(x, logits, candidates_, WireForward::soft);
  };
  return add(select_wires(x, initial_logits_, candidates_, WireForward::hard),
             subtract(mixture(logits_), mixture(initial_logits_)));
}

Tensor SelectionLayer::hard(const Tensor& x) const {
  const NoGrad off_the_tape;
  return cast(select_wires(cast(x, logits_.dtype()), logits_, candidates_, WireForward::hard),
              DType::int32);
}

std::vector<Signal> SelectionLayer::emit(std::span<const Signal> inputs, GateSink& /*sink*/) const {
  std::vector<Signal> slots;
  for (const std::int32_t source : best_sources(*candidates_, logits_)) {
    slots.push_back(inputs[static_cast<std::size_t>(source)]);
  }
  return slots;
}

const LayerKind selection_layer_kind = {
    "selection",
    "learned wires: one of several candidate sources for every gate input",
    {"network.candidates", "network.wire_forward", "network.wire_temperature"},
    {Feature::learned_wires},
    static_cast<int>(std::size(variants)),
    [](int variant, DType dtype, std::uint64_t seed) -> std::unique_ptr<Layer> {
      CandidatesPtr candidates =
          example_candidates(variants[variant], example_inputs, example_gates, seed, 0);
      const Tensor logits = initial_wire_logits(*candidates, dtype, 1, seed, 0);
      return std::make_unique<SelectionLayer>(std::move(candidates), logits,
                                              variants[variant].forward);
    },
    run_example};

}  // namespace boolgrad::logic
