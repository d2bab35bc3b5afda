#include "boolgrad/train/learners/initial_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "boolgrad/circuit/gate_layers.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/convolution_layers.h"
#include "boolgrad/logic/knockout.h"
#include "boolgrad/train/experiment/initial_circuit.h"

namespace boolgrad::train {
namespace {

// The random numbers of convolutions are those of layers from this one on, so that the layers after
// them are numbered as in a network without convolutions.
constexpr std::uint32_t convolution_layers = 1000;

std::int64_t of_layer(const std::vector<std::int64_t>& values, std::size_t layer) {
  return values.size() == 1 ? values[0] : values[layer];
}

/// What decides the wires of a layer.
struct LayerWires {
  logic::WiringSize size;
  std::span<const logic::ImagePosition> positions;  ///< of the inputs; empty after the first layer
  std::uint64_t seed;
  std::uint32_t layer;
};

logic::WiringPtr make_wiring(const NetworkOptions& network, const LayerWires& wires) {
  const auto& [size, positions, seed, layer] = wires;
  switch (network.wiring) {
    case WiringKind::random: return logic::random_wiring(size, seed, layer);
    case WiringKind::unique: return logic::unique_pairs(size, seed, layer);
    case WiringKind::local: return logic::local_wiring(size, network.wiring_noise, seed, layer);
    case WiringKind::butterfly: return logic::butterfly_pairs(size, seed, layer);
    case WiringKind::window:
      return positions.empty() ? logic::random_wiring(size, seed, layer)
                               : logic::window_wiring(size, positions, network.window, seed, layer);
  }
  fail("network", "unknown wiring {}", static_cast<int>(network.wiring));
}

logic::CandidatesPtr make_candidates(const NetworkOptions& network, std::int64_t count,
                                     const LayerWires& wires) {
  const auto& [size, positions, seed, layer] = wires;
  if (count > size.inputs) {
    fail("network",
         "expected network.candidates of at most {}, the inputs of layer {}, received {}",
         size.inputs, layer + 1, count);
  }
  if (count == 0) count = size.inputs;
  if (network.wiring == WiringKind::window && !positions.empty()) {
    return logic::window_candidates(size, count, positions, network.window, seed, layer);
  }
  return logic::random_candidates(size, count, seed, layer);
}

/// Replaces the first wires of a layer by those of `gates`. Inputs that a gate does not have keep
/// their random wires, which training may come to use.
logic::WiringPtr with_wires_of(const circuit::LayerGates& gates, const logic::Wiring& wiring) {
  Tensor wires = wiring.wires().clone();
  const std::span<std::int32_t> sources = wires.mutable_values<std::int32_t>();
  const auto count = static_cast<std::size_t>(wiring.gates());
  for (std::size_t g = 0; g < gates.size(); ++g) {
    for (std::size_t j = 0; j < gates[g].arity; ++j) {
      sources[j * count + g] = static_cast<std::int32_t>(gates[g].inputs[j]);
    }
  }
  return std::make_shared<const logic::Wiring>(wiring.inputs(), wires);
}

/// The table of a gate with further inputs that it does not depend on.
std::uint8_t entry_of(const circuit::NetlistGate& gate, std::size_t entry) {
  const std::size_t own = entry & ((std::size_t{1} << gate.arity) - 1);
  return static_cast<std::uint8_t>((gate.truth >> own) & 1);
}

/// Replaces the first logits of a layer by those of the tables of `gates`.
Tensor with_tables_of(const circuit::LayerGates& gates, const NetworkOptions& options,
                      const Tensor& logits, int arity) {
  const std::size_t entries = std::size_t{1} << arity;
  Tensor tables({std::ssize(gates), static_cast<std::int64_t>(entries)}, DType::uint8);
  for (std::size_t g = 0; g < gates.size(); ++g) {
    for (std::size_t e = 0; e < entries; ++e) {
      tables.mutable_values<std::uint8_t>()[g * entries + e] = entry_of(gates[g], e);
    }
  }
  const Tensor own = logic::table_logits(options.parametrisation, tables, options.dtype,
                                         options.init_circuit_strength);
  Tensor result = logits.clone();
  visit_dtype(options.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::ranges::copy(own.values<T>(), result.mutable_values<T>().begin());
  });
  return result;
}

/// Candidates and their logits.
struct LearnedWires {
  logic::CandidatesPtr candidates;
  Tensor logits;
};

/// Makes the wires of `gates` candidates, with the probability sigmoid(strength) each.
LearnedWires with_wires_of(const circuit::LayerGates& gates, double strength,
                           const LearnedWires& wires) {
  const logic::WireCandidates& all = *wires.candidates;
  const auto count = static_cast<std::size_t>(all.count());
  const double logit = strength + std::log(std::max<double>(1, static_cast<double>(count) - 1));
  LearnedWires result{wires.candidates, wires.logits.clone()};
  Tensor sources = all.has_all() ? Tensor() : all.sources().clone();
  for (std::size_t g = 0; g < gates.size(); ++g) {
    for (std::size_t j = 0; j < gates[g].arity; ++j) {
      const std::size_t slot = g * static_cast<std::size_t>(all.arity()) + j;
      const auto source = static_cast<std::int32_t>(gates[g].inputs[j]);
      std::size_t chosen = all.has_all() ? static_cast<std::size_t>(source) : 0;
      if (!all.has_all()) {
        const auto own = sources.mutable_values<std::int32_t>().subspan(slot * count, count);
        const auto found = std::ranges::find(own, source);
        if (found == own.end()) own[0] = source;
        else chosen = static_cast<std::size_t>(found - own.begin());
      }
      visit_dtype(result.logits.dtype(), [&](auto zero) {
        using T = decltype(zero);
        const auto own = result.logits.template mutable_values<T>().subspan(slot * count, count);
        std::ranges::fill(own, T{});
        own[chosen] = convert<T>(logit);
      });
    }
  }
  if (!all.has_all()) {
    result.candidates = std::make_shared<const logic::WireCandidates>(all.inputs(), sources);
  }
  return result;
}

/// The mask of the layer that the patterns `list`, `layer` and `block` refer to.
Tensor knockout_mask(const KnockoutOptions& knockout, std::int64_t gates, DType dtype) {
  switch (knockout.pattern) {
    case KnockoutPattern::list: return logic::listed_knockout(gates, knockout.gates, dtype);
    case KnockoutPattern::layer: return logic::whole_knockout(gates, dtype);
    case KnockoutPattern::block:
      return logic::block_knockout(gates, knockout.first, knockout.count, dtype);
    default: return Tensor::ones({gates}, dtype);
  }
}

void knock_out_share(const Experiment& experiment, logic::Network& network) {
  const KnockoutOptions& knockout = experiment.knockout;
  const std::int64_t seed = knockout.seed < 0 ? experiment.seed : knockout.seed;
  for (std::size_t layer = 0; layer + 1 < network.layers().size(); ++layer) {
    network.set_mask(
        layer, logic::random_knockout(network.layers()[layer].wiring->tables(), knockout.share,
                                      network.dtype(), static_cast<std::uint64_t>(seed),
                                      static_cast<std::uint32_t>(layer)));
  }
}

/// Adds the convolutions of the experiment.
void add_convolutions(const Experiment& experiment, logic::ImageSize image,
                      logic::Network& network) {
  const NetworkOptions& options = experiment.network;
  for (std::size_t i = 0; i < experiment.convolution.size(); ++i) {
    image = logic::add_convolution(
        network, image, experiment.convolution.at(i),
        {.initial = {.kind = options.init, .strength = options.init_strength},
         .seed = static_cast<std::uint64_t>(experiment.seed),
         .first_address = convolution_layers,
         .candidates = experiment.convolution.candidates_at(i),
         .wire_strength = options.wire_init_strength});
  }
}

}  // namespace

logic::Network make_network(const Experiment& experiment, std::int64_t inputs, std::int64_t outputs,
                            const ImageInputs& images) {
  const Experiment grown = with_initial_circuit(experiment);
  const NetworkOptions& options = grown.network;
  const auto initial =
      options.circuit ? initial_layers(grown, inputs, outputs) : std::vector<circuit::LayerGates>();
  logic::Network network(inputs, options.parametrisation, options.dtype);
  add_convolutions(experiment, images.size, network);
  for (std::size_t layer = 0; layer <= options.hidden.size(); ++layer) {
    const bool is_last = layer == options.hidden.size();
    const logic::WiringSize size{.inputs = network.outputs(),
                                 .gates = is_last ? outputs : options.hidden[layer],
                                 .arity = static_cast<int>(of_layer(options.arity, layer)),
                                 .group_size = of_layer(options.group_size, layer)};
    const auto index = static_cast<std::uint32_t>(layer);
    const auto seed = static_cast<std::uint64_t>(experiment.seed);
    const LayerWires wires{
        size, layer == 0 ? std::span(images.positions) : std::span<const logic::ImagePosition>(),
        seed, index};
    const circuit::LayerGates gates = initial.empty() ? circuit::LayerGates() : initial[layer];
    Tensor logits = logic::initial_logits(
        options.parametrisation, size.gates, size.arity, options.dtype,
        {.kind = options.init, .strength = options.init_strength}, seed, index);
    if (!gates.empty()) logits = with_tables_of(gates, options, logits, size.arity);
    const std::int64_t candidates = of_layer(options.candidates, layer);
    if (candidates == 1) {
      const logic::WiringPtr wiring = make_wiring(options, wires);
      network.add_layer(gates.empty() ? wiring : with_wires_of(gates, *wiring), logits);
      continue;
    }
    LearnedWires learned{make_candidates(options, candidates, wires), {}};
    learned.logits = logic::initial_wire_logits(*learned.candidates, options.dtype,
                                                options.wire_init_strength, seed, index);
    if (!gates.empty()) learned = with_wires_of(gates, options.init_circuit_strength, learned);
    network.add_layer(std::move(learned.candidates), learned.logits, logits);
  }
  return network;
}

automata::Rule make_rule(const Experiment& experiment) {
  const AutomatonOptions& automaton = experiment.automaton;
  const NetworkOptions& network = experiment.network;
  const automata::RuleShape shape{automaton.channels, automaton.kernels, automaton.perceive,
                                  automaton.update};
  const Border border = experiment.learns_rule() ? Border::periodic : automaton.border;
  return automata::Rule::make(shape, border, network.parametrisation, network.dtype,
                              {.kind = network.init, .strength = network.init_strength},
                              static_cast<std::uint64_t>(experiment.seed));
}

void knock_out(const Experiment& experiment, logic::Network& network) {
  const KnockoutOptions& knockout = experiment.knockout;
  if (knockout.pattern == KnockoutPattern::none) return;
  if (knockout.pattern == KnockoutPattern::random) return knock_out_share(experiment, network);
  const DType dtype = network.dtype();
  if (knockout.layer == 0) {
    network.set_input_mask(knockout_mask(knockout, network.inputs(), dtype));
  } else {
    const auto layer = static_cast<std::size_t>(knockout.layer - 1);
    const std::int64_t gates = network.layers().at(layer).wiring->tables();
    network.set_mask(layer, knockout_mask(knockout, gates, dtype));
  }
}

}  // namespace boolgrad::train
