#include "boolgrad/train/learners/problem.h"

#include "boolgrad/core/error.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/data/truth_table.h"
#include "boolgrad/logic/knockout.h"
#include "boolgrad/ops/loss.h"

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
  fail("network", "expected one of the three wirings, received another");
}

std::int64_t count_off(const Tensor& mask) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < mask.size(); ++i) count += mask.at(i) == 0 ? 1 : 0;
  return count;
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

BooleanTask make_task(const Experiment& experiment) {
  const TaskOptions& task = experiment.task;
  if (task.kind == "table") return read_truth_table(task.file, task.outputs);
  return boolean_task(task.kind, static_cast<int>(task.bits));
}

LogicNetwork make_network(const Experiment& experiment, const BooleanTask& task) {
  return make_network(experiment, task.input_count(), task.output_count());
}

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

AutomatonTask make_automaton_task(const Experiment& experiment) {
  const TaskOptions& task = experiment.task;
  const AutomatonOptions& automaton = experiment.automaton;
  if (task.kind == "life") return life_task();
  const Pattern pattern = task.kind == "checkerboard"
                              ? checkerboard_pattern(automaton.height, automaton.width, task.square)
                          : task.file.ends_with(".txt")
                              ? read_bitmap(task.file)
                              : picture_pattern(task.file, automaton.height, automaton.width);
  const Shape& shape = pattern.bits.shape();
  if (shape[1] != automaton.height || shape[2] != automaton.width) {
    fail("target", "{}: expected {}x{} cells as the grid has, received {}x{}", task.file,
         automaton.height, automaton.width, shape[1], shape[2]);
  }
  if (shape[0] > automaton.channels) {
    fail("target", "expected at least {} channels in the automaton for the target, received {}",
         shape[0], automaton.channels);
  }
  return {pattern.bits.viewed_as({shape[0], 1, shape[1], shape[2]}), {}};
}

Rule make_rule(const Experiment& experiment) {
  const AutomatonOptions& automaton = experiment.automaton;
  const NetworkOptions& network = experiment.network;
  const RuleShape shape{automaton.channels, automaton.kernels, automaton.perceive,
                        automaton.update};
  const Border border = experiment.task.kind == "life" ? Border::periodic : automaton.border;
  return Rule::make(shape, border, network.parametrisation, network.dtype,
                    {.kind = network.init, .strength = network.init_strength},
                    static_cast<std::uint64_t>(experiment.seed));
}

std::int64_t probe_count(const AutomatonOptions& options) {
  return options.start == StartKind::seed && options.fire_rate == 1 ? 1 : options.probes;
}

Tensor make_starts(const AutomatonTask& task, const AutomatonOptions& options,
                   const RolloutSize& size, std::uint64_t seed, std::uint32_t stream,
                   std::uint32_t draw) {
  if (task.starts.defined()) return task.starts;
  const Shape shape{options.channels, size.batch, size.height, size.width};
  return options.start == StartKind::seed ? seed_starts(shape)
                                          : random_starts(shape, seed, stream, draw);
}

Tensor loss_of(const TrainingOptions& training, const Tensor& y, const Tensor& target) {
  switch (training.loss) {
    case LossKind::squares: return sum_of_squares(y, target);
    case LossKind::l4: return l4(y, target);
    case LossKind::bce: return binary_cross_entropy(y, target);
    case LossKind::focal: return focal(y, target, {.gamma = training.focal_gamma});
  }
  fail("loss", "expected one of the four losses, received another");
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

std::int64_t masked_count(const LogicNetwork& network) {
  std::int64_t count = count_off(network.input_mask());
  for (const LogicLayer& layer : network.layers()) count += count_off(layer.mask);
  return count;
}

}  // namespace boolgrad
