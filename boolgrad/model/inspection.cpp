#include "boolgrad/model/inspection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <span>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/logic/gates.h"
#include "boolgrad/model/input_samples.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

constexpr std::int64_t max_samples = 1 << max_exhaustive_inputs;
constexpr std::int64_t min_samples = 256;
// Limit on compared gate outputs, if samples are random.
constexpr std::int64_t max_compared = 1 << 26;
// Limit on gate outputs in memory.
constexpr std::int64_t max_values = 1 << 24;

/// A hard gate: its table and the sources of its inputs.
struct HardGate {
  std::span<const std::uint8_t> table;
  std::span<const std::int32_t> sources;

  /// The table entry after the source of input `slot` is flipped.
  std::size_t flipped(std::size_t entry, std::size_t slot) const {
    for (std::size_t other = 0; other < sources.size(); ++other) {
      if (sources[other] == sources[slot]) entry ^= std::size_t{1} << other;
    }
    return entry;
  }

  /// Whether inputs with the same source have the same value in `entry`.
  bool is_possible(std::size_t entry) const {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (sources[i] == sources[j] && ((entry >> i) & 1) != ((entry >> j) & 1)) return false;
      }
    }
    return true;
  }

  bool depends_on(std::size_t slot) const {
    for (std::size_t entry = 0; entry < table.size(); ++entry) {
      if (is_possible(entry) && table[entry] != table[flipped(entry, slot)]) return true;
    }
    return false;
  }
};

/// The hard gates of a layer.
class HardLayer {
 public:
  HardLayer(const logic::Network& network, std::size_t layer)
      : tables_(network.hard_gates_of(layer)), wiring_(network.layers()[layer].wiring) {
    const Tensor& mask = network.layers()[layer].mask;
    for (std::int64_t gate = 0; gate < wiring_->gates(); ++gate) {
      off_.push_back(!wiring_->pools() && mask.at(gate / wiring_->positions()) < 0.5);
    }
  }

  std::size_t gates() const { return off_.size(); }
  bool off(std::size_t gate) const { return off_[gate]; }
  std::size_t arity() const { return static_cast<std::size_t>(wiring_->arity()); }

  HardGate gate(std::size_t index) const {
    const std::size_t entries = std::size_t{1} << arity();
    return {tables_.values<std::uint8_t>().subspan(index * entries, entries),
            wiring_->sources().subspan(index * arity(), arity())};
  }

 private:
  Tensor tables_;
  logic::WiringPtr wiring_;
  std::vector<bool> off_;
};

/// Whether the gate is a buffer of input `slot`, or an inverter.
bool is_input(std::span<const std::uint8_t> table, std::size_t slot, bool inverted) {
  for (std::size_t entry = 0; entry < table.size(); ++entry) {
    const bool input = ((entry >> slot) & 1) != 0;
    if ((table[entry] != 0) != (input != inverted)) return false;
  }
  return true;
}

bool is_constant(std::span<const std::uint8_t> table) {
  return std::ranges::all_of(table, [&](std::uint8_t entry) { return entry == table[0]; });
}

bool passes_input(const HardGate& gate, bool inverted) {
  for (std::size_t slot = 0; slot < gate.sources.size(); ++slot) {
    if (is_input(gate.table, slot, inverted)) return true;
  }
  return false;
}

/// A kind and its position in the list of kinds.
struct Kind {
  int order;
  std::string name;
  bool operator<(const Kind& other) const { return order < other.order; }
};

Kind kind_of(const HardLayer& layer, std::size_t index) {
  if (layer.off(index)) return {100, "off"};
  const HardGate gate = layer.gate(index);
  if (layer.arity() == 2) {
    for (const logic::Gate& known : logic::gates) {
      bool same = true;
      for (int i = 0; i < 4; ++i) {
        same = same && known.entry(i) == (gate.table[static_cast<std::size_t>(i)] != 0);
      }
      if (same) return {known.index, std::string(known.name)};
    }
  }
  if (is_constant(gate.table)) return {20, "constant"};
  if (passes_input(gate, false)) return {21, "pass"};
  if (passes_input(gate, true)) return {22, "inverter"};
  return {23, "other"};
}

/// The transitive fan-in of some outputs: gates per layer, and inputs.
struct FanIn {
  std::vector<std::vector<bool>> gates;
  std::vector<bool> inputs;
};

/// Marks the fan-in of the given outputs, from the last layer to the first.
FanIn fan_in_of(const std::vector<HardLayer>& layers, std::int64_t inputs,
                const std::vector<bool>& outputs) {
  FanIn fan_in{{}, std::vector<bool>(static_cast<std::size_t>(inputs), false)};
  for (const HardLayer& layer : layers) fan_in.gates.emplace_back(layer.gates(), false);
  fan_in.gates.back() = outputs;
  for (std::size_t l = layers.size(); l-- > 0;) {
    std::vector<bool>& below = l > 0 ? fan_in.gates[l - 1] : fan_in.inputs;
    for (std::size_t g = 0; g < layers[l].gates(); ++g) {
      if (layers[l].off(g)) fan_in.gates[l][g] = false;
      if (!fan_in.gates[l][g]) continue;
      const HardGate gate = layers[l].gate(g);
      for (std::size_t slot = 0; slot < gate.sources.size(); ++slot) {
        if (gate.depends_on(slot)) below[static_cast<std::size_t>(gate.sources[slot])] = true;
      }
    }
  }
  return fan_in;
}

std::int64_t find_depth(const std::vector<HardLayer>& layers, std::int64_t inputs) {
  std::vector<std::int64_t> before(static_cast<std::size_t>(inputs), 0);
  for (const HardLayer& layer : layers) {
    std::vector<std::int64_t> depth(layer.gates(), 0);
    for (std::size_t g = 0; g < layer.gates(); ++g) {
      const HardGate gate = layer.gate(g);
      if (is_constant(gate.table)) continue;
      for (std::size_t slot = 0; slot < gate.sources.size(); ++slot) {
        if (!gate.depends_on(slot)) continue;
        depth[g] = std::max(depth[g], before[static_cast<std::size_t>(gate.sources[slot])]);
      }
      if (!passes_input(gate, false)) ++depth[g];
    }
    before = std::move(depth);
  }
  return before.empty() ? 0 : *std::ranges::max_element(before);
}

double mean_entropy(const Tensor& tables) {
  double sum = 0;
  for (std::int64_t i = 0; i < tables.size(); ++i) {
    const double p = tables.at(i);
    if (p > 0 && p < 1) sum -= p * std::log2(p) + (1 - p) * std::log2(1 - p);
  }
  return sum / static_cast<double>(tables.size());
}

/// Share of gates whose tables are not close to hard ones.
double undecided_share(const Tensor& tables) {
  constexpr double nearly = 0.1;
  const std::int64_t gates = tables.shape()[0];
  const std::int64_t entries = tables.shape()[1];
  std::int64_t undecided = 0;
  for (std::int64_t gate = 0; gate < gates; ++gate) {
    bool decided = true;
    for (std::int64_t i = gate * entries; i < (gate + 1) * entries; ++i) {
      decided = decided && (tables.at(i) <= nearly || tables.at(i) >= 1 - nearly);
    }
    undecided += decided ? 0 : 1;
  }
  return static_cast<double>(undecided) / static_cast<double>(gates);
}

/// Difference between soft outputs and hard ones.
struct Difference {
  double gap = 0;
  std::int64_t disagreements = 0;  ///< soft values that round to another bit
};

/// The difference of one gate over all samples.
template <class T>
Difference difference_of(std::span<const T> soft, const logic::BitMatrix& hard, std::int64_t gate) {
  Difference found;
  for (std::size_t sample = 0; sample < soft.size(); ++sample) {
    const bool bit = hard.at(gate, static_cast<std::int64_t>(sample));
    const auto value = static_cast<double>(soft[sample]);
    found.gap += std::abs(value - (bit ? 1 : 0));
    found.disagreements += (value > 0.5) != bit ? 1 : 0;
  }
  return found;
}

template <class T>
std::vector<Difference> differences(const Tensor& soft, const logic::BitMatrix& hard) {
  const std::span<const T> values = soft.values<T>();
  const auto samples = static_cast<std::size_t>(soft.shape()[1]);
  std::vector<Difference> found(static_cast<std::size_t>(soft.shape()[0]));
  parallel_for(found.size(), [&](std::size_t gate) {
    found[gate] = difference_of(values.subspan(gate * samples, samples), hard,
                                static_cast<std::int64_t>(gate));
  });
  return found;
}

void compare(const Tensor& soft, const logic::BitMatrix& hard, double share,
             LayerInspection& layer) {
  Difference total;
  for (const Difference& gate : soft.dtype() == DType::float64 ? differences<double>(soft, hard)
                                                               : differences<float>(soft, hard)) {
    total.gap += gate.gap;
    total.disagreements += gate.disagreements;
  }
  const auto count = static_cast<double>(soft.size());
  layer.gap += share * total.gap / count;
  layer.disagreement += share * static_cast<double>(total.disagreements) / count;
}

/// Compares soft and hard outputs of every layer, a block of samples at a time. Results go to the
/// layers from `first` on.
void compare_layers(const logic::Network& network, std::size_t first, Inspection& inspection) {
  // Means over hundreds of thousands of gates need fewer samples per gate.
  const std::int64_t random_count =
      std::clamp(max_compared / inspection.gates, min_samples, max_samples);
  const Tensor x = input_samples(network.inputs(), random_count, network.dtype());
  const std::int64_t samples = x.shape()[1];
  inspection.samples = std::max(inspection.samples, samples);
  const std::int64_t step = std::max<std::int64_t>(64, max_values / inspection.gates);
  for (std::int64_t begin = 0; begin < samples; begin += step) {
    const std::int64_t end = std::min(begin + step, samples);
    const Tensor part = slice(x, 1, begin, end);
    const double share = static_cast<double>(end - begin) / static_cast<double>(samples);
    const std::vector<Tensor> soft = network.soft_layers(part);
    const std::vector<logic::BitMatrix> hard = network.hard_layers(logic::pack_bits(part));
    for (std::size_t l = 0; l < soft.size(); ++l) {
      compare(soft[l], hard[l], share, inspection.layers[first + l]);
    }
  }
}

std::vector<HardLayer> hard_layers_of(const logic::Network& network) {
  std::vector<HardLayer> layers;
  for (std::size_t l = 0; l < network.layers().size(); ++l) layers.emplace_back(network, l);
  return layers;
}

/// The outputs of perception that the update depends on for any channel.
std::vector<bool> used_perception(const automata::Rule& rule,
                                  const std::vector<bool>& update_inputs) {
  const auto channels = static_cast<std::size_t>(rule.channels());
  std::vector<bool> perceived(static_cast<std::size_t>(rule.perceive().outputs()), false);
  for (std::size_t i = channels; i < update_inputs.size(); ++i) {
    if (update_inputs[i]) perceived[(i - channels) % perceived.size()] = true;
  }
  return perceived;
}

using Kinds = std::map<Kind, std::int64_t>;

/// Adds the layers of a network of which only some outputs are used. Returns the inputs that these
/// depend on.
std::vector<bool> add_network(const logic::Network& network, const std::vector<bool>& outputs,
                              Inspection& result, Kinds& kinds) {
  const std::vector<HardLayer> layers = hard_layers_of(network);
  FanIn fan_in = fan_in_of(layers, network.inputs(), outputs);
  const std::size_t first = result.layers.size();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    LayerInspection layer;
    layer.gates = static_cast<std::int64_t>(layers[l].gates());
    layer.active = std::ranges::count(fan_in.gates[l], true);
    const Tensor tables = logic::soft_tables(network.parametrisation(), network.layers()[l].logits);
    if (tables.size() > 0) {
      layer.entropy = mean_entropy(tables);
      layer.undecided = undecided_share(tables);
    }
    for (std::size_t g = 0; g < layers[l].gates(); ++g) {
      layer.off += layers[l].off(g) ? 1 : 0;
      ++kinds[kind_of(layers[l], g)];
    }
    result.gates += layer.gates;
    result.active_gates += layer.active;
    result.layers.push_back(layer);
  }
  result.depth += find_depth(layers, network.inputs());
  compare_layers(network, first, result);
  return fan_in.inputs;
}

void add_kinds(const Kinds& kinds, Inspection& result) {
  for (const auto& [kind, count] : kinds) result.kinds.emplace_back(kind.name, count);
}

}  // namespace

std::vector<std::vector<bool>> active_gates(const logic::Network& network) {
  if (network.layers().empty()) return {};
  const std::vector<bool> outputs(static_cast<std::size_t>(network.outputs()), true);
  return fan_in_of(hard_layers_of(network), network.inputs(), outputs).gates;
}

std::vector<std::vector<bool>> active_gates(const automata::Rule& rule) {
  const std::vector<bool> channels(static_cast<std::size_t>(rule.channels()), true);
  const FanIn update = fan_in_of(hard_layers_of(rule.update()), rule.update().inputs(), channels);
  std::vector<std::vector<bool>> active =
      fan_in_of(hard_layers_of(rule.perceive()), rule.perceive().inputs(),
                used_perception(rule, update.inputs))
          .gates;
  active.insert(active.end(), update.gates.begin(), update.gates.end());
  return active;
}

Inspection inspect(const logic::Network& network) {
  const NoGrad off_the_tape;
  Inspection result;
  if (network.layers().empty()) return result;
  Kinds kinds;
  add_network(network, std::vector<bool>(static_cast<std::size_t>(network.outputs()), true), result,
              kinds);
  add_kinds(kinds, result);
  return result;
}

Inspection inspect(const automata::Rule& rule) {
  const NoGrad off_the_tape;
  Inspection update;
  Kinds kinds;
  const std::vector<bool> channels(static_cast<std::size_t>(rule.channels()), true);
  const std::vector<bool> inputs = add_network(rule.update(), channels, update, kinds);
  Inspection result;
  add_network(rule.perceive(), used_perception(rule, inputs), result, kinds);
  result.layers.insert(result.layers.end(), update.layers.begin(), update.layers.end());
  result.gates += update.gates;
  result.active_gates += update.active_gates;
  result.depth += update.depth;
  result.samples = std::max(result.samples, update.samples);
  add_kinds(kinds, result);
  return result;
}

}  // namespace boolgrad
