#include "boolgrad/train/learners/initial_model.h"

#include "boolgrad/core/error.h"
#include "boolgrad/logic/knockout.h"

namespace boolgrad {
namespace {

std::int64_t of_layer(const std::vector<std::int64_t>& values, std::size_t layer) {
  return values.size() == 1 ? values[0] : values[layer];
}

WiringPtr make_wiring(const Experiment& experiment, const WiringSize& size, std::uint32_t layer) {
  const auto seed = static_cast<std::uint64_t>(experiment.seed);
  switch (experiment.network.wiring) {
    case WiringKind::random: return random_wiring(size, seed, layer);
    case WiringKind::unique: return unique_pairs(size, seed, layer);
    case WiringKind::local: return local_wiring(size, experiment.network.wiring_noise, seed, layer);
  }
  fail("network", "expected random, unique or local wiring, received {}",
       static_cast<int>(experiment.network.wiring));
}

/// The mask of the layer that a list, a whole layer or a block is about.
Tensor knockout_mask(const KnockoutOptions& knockout, std::int64_t gates, DType dtype) {
  switch (knockout.pattern) {
    case KnockoutPattern::list: return listed_knockout(gates, knockout.gates, dtype);
    case KnockoutPattern::layer: return whole_knockout(gates, dtype);
    case KnockoutPattern::block:
      return block_knockout(gates, knockout.first, knockout.count, dtype);
    default: return Tensor::ones({gates}, dtype);
  }
}

void knock_out_share(const Experiment& experiment, LogicNetwork& network) {
  const KnockoutOptions& knockout = experiment.knockout;
  const std::int64_t seed = knockout.seed < 0 ? experiment.seed : knockout.seed;
  for (std::size_t layer = 0; layer + 1 < network.layers().size(); ++layer) {
    network.set_mask(layer, random_knockout(network.layers()[layer].wiring->gates(), knockout.share,
                                            network.dtype(), static_cast<std::uint64_t>(seed),
                                            static_cast<std::uint32_t>(layer)));
  }
}

}  // namespace

LogicNetwork make_network(const Experiment& experiment, std::int64_t inputs, std::int64_t outputs) {
  const NetworkOptions& options = experiment.network;
  LogicNetwork network(inputs, options.parametrisation, options.dtype);
  for (std::size_t layer = 0; layer <= options.hidden.size(); ++layer) {
    const bool is_last = layer == options.hidden.size();
    const WiringSize size{.inputs = network.outputs(),
                          .gates = is_last ? outputs : options.hidden[layer],
                          .arity = static_cast<int>(of_layer(options.arity, layer)),
                          .group_size = of_layer(options.group_size, layer)};
    const auto index = static_cast<std::uint32_t>(layer);
    network.add_layer(make_wiring(experiment, size, index),
                      initial_logits(options.parametrisation, size.gates, size.arity, options.dtype,
                                     {.kind = options.init, .strength = options.init_strength},
                                     static_cast<std::uint64_t>(experiment.seed), index));
  }
  return network;
}

Rule make_rule(const Experiment& experiment) {
  const AutomatonOptions& automaton = experiment.automaton;
  const NetworkOptions& network = experiment.network;
  const RuleShape shape{automaton.channels, automaton.kernels, automaton.perceive,
                        automaton.update};
  const Border border =
      experiment.task.kind == TaskKind::life ? Border::periodic : automaton.border;
  return Rule::make(shape, border, network.parametrisation, network.dtype,
                    {.kind = network.init, .strength = network.init_strength},
                    static_cast<std::uint64_t>(experiment.seed));
}

void knock_out(const Experiment& experiment, LogicNetwork& network) {
  const KnockoutOptions& knockout = experiment.knockout;
  if (knockout.pattern == KnockoutPattern::none) return;
  if (knockout.pattern == KnockoutPattern::random) return knock_out_share(experiment, network);
  const DType dtype = network.dtype();
  if (knockout.layer == 0) {
    network.set_input_mask(knockout_mask(knockout, network.inputs(), dtype));
  } else {
    const auto layer = static_cast<std::size_t>(knockout.layer - 1);
    const std::int64_t gates = network.layers().at(layer).wiring->gates();
    network.set_mask(layer, knockout_mask(knockout, gates, dtype));
  }
}

}  // namespace boolgrad
