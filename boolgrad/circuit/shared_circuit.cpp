#include "boolgrad/circuit/shared_circuit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/sinks.h"

namespace boolgrad::circuit {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<std::string> numbered(std::string_view stem, std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", stem, i));
  return names;
}

/// The bits that copies of gates read: those of input `leaf` at every position.
class LeafSources {
 public:
  static constexpr std::int64_t outside = -1;

  LeafSources(const logic::Wiring& wiring, std::int64_t positions)
      : wiring_(wiring), positions_(positions) {
    const Tensor& bits = wiring.sharing().outside;
    if (bits.defined()) outside_ = bits.values<std::uint8_t>();
  }

  std::int64_t leaves() const { return wiring_.gates() / positions_ * wiring_.arity(); }
  std::int64_t positions() const { return positions_; }

  std::int64_t operator()(std::int64_t leaf, std::int64_t position) const {
    const std::int64_t gate = leaf / wiring_.arity() * positions_ + position;
    const auto slot = static_cast<int>(leaf % wiring_.arity());
    if (!outside_.empty() && (outside_[index(gate)] >> slot & 1) != 0) return outside;
    return wiring_.source(gate, slot);
  }

 private:
  const logic::Wiring& wiring_;
  std::int64_t positions_;
  std::span<const std::uint8_t> outside_;
};

/// The difference between the sources of positions p and p + distance, for the first leaf and p in
/// the same row (of `columns` positions) where both read a bit. 0 if there are none.
std::int64_t step_between(const LeafSources& sources, std::int64_t distance, std::int64_t columns) {
  for (std::int64_t leaf = 0; leaf < sources.leaves(); ++leaf) {
    for (std::int64_t p = 0; p + distance < sources.positions(); ++p) {
      const bool wraps = distance < columns && p % columns + distance >= columns;
      const std::int64_t one = sources(leaf, p);
      const std::int64_t other = sources(leaf, p + distance);
      if (wraps || one == LeafSources::outside || other == LeafSources::outside) continue;
      return other - one;
    }
  }
  return 0;
}

/// The leaf that reads these bits at the positions of a stage, if there is one.
std::optional<SharedLeaf> leaf_of(const LeafSources& sources, std::int64_t leaf,
                                  const SharedStage& stage, std::int64_t channel_bits) {
  SharedLeaf result;
  bool is_first = true;
  for (std::int64_t p = 0; p < sources.positions(); ++p) {
    const std::int64_t source = sources(leaf, p);
    if (source == LeafSources::outside) continue;
    const std::int64_t row = p / stage.columns;
    const std::int64_t column = p % stage.columns;
    if (is_first) {
      const std::int64_t channel = source / channel_bits;
      result = {.channel = channel,
                .origin = source - channel * channel_bits - row * stage.row_step -
                          column * stage.column_step,
                .rows = {row, row + 1},
                .columns = {column, column + 1}};
      is_first = false;
    }
    result.rows.end = row + 1;
    result.columns = {std::min(result.columns.begin, column),
                      std::max(result.columns.end, column + 1)};
  }
  for (std::int64_t p = 0; p < sources.positions(); ++p) {
    const std::int64_t source = sources(leaf, p);
    const auto own = stage.source(result, p / stage.columns, p % stage.columns);
    if (own.has_value() != (source != LeafSources::outside)) return std::nullopt;
    if (!own) continue;
    const bool stays = *own >= 0 && *own < channel_bits;
    if (!stays || result.channel * channel_bits + *own != source) return std::nullopt;
  }
  return result;
}

/// A grid of positions and its leaves.
struct Grid {
  SharedStage stage;  ///< rows, columns and steps
  std::vector<SharedLeaf> leaves;
};

/// Finds a grid on which all leaves are regular: as few rows as possible.
std::optional<Grid> grid_of(const LeafSources& sources, std::int64_t channel_bits) {
  for (std::int64_t rows = 1; rows <= sources.positions(); ++rows) {
    if (sources.positions() % rows != 0) continue;
    const std::int64_t columns = sources.positions() / rows;
    Grid grid;
    grid.stage.rows = rows;
    grid.stage.columns = columns;
    grid.stage.row_step = rows == 1 ? 0 : step_between(sources, columns, columns);
    grid.stage.column_step = columns == 1 ? 0 : step_between(sources, 1, columns);
    bool is_regular = true;
    for (std::int64_t leaf = 0; is_regular && leaf < sources.leaves(); ++leaf) {
      const auto found = leaf_of(sources, leaf, grid.stage, channel_bits);
      is_regular = found.has_value();
      if (found) grid.leaves.push_back(*found);
    }
    if (is_regular) return grid;
  }
  return std::nullopt;
}

/// Whether a layer continues the trees of the layer below: at every position it reads gates of that
/// position, each of them at most once.
bool continues_trees(const logic::Wiring& below, const logic::Wiring& wiring) {
  const std::int64_t positions = below.positions();
  if (wiring.pools() || wiring.positions() != positions || wiring.sharing().outside.defined()) {
    return false;
  }
  std::vector<bool> is_read(index(below.tables()), false);
  for (std::int64_t gate = 0; gate < wiring.gates(); ++gate) {
    const std::int64_t position = gate % positions;
    for (int slot = 0; slot < wiring.arity(); ++slot) {
      const std::int64_t source = wiring.source(gate, slot);
      if (source != wiring.source(gate - position, slot) + position) return false;
      if (position > 0) continue;
      if (source % positions != 0 || is_read[index(source / positions)]) return false;
      is_read[index(source / positions)] = true;
    }
  }
  return true;
}

/// Builds the kernels of consecutive layers of trees.
class KernelBuilder {
 public:
  /// `leaves` are those of layer `first`, gate by gate.
  KernelBuilder(const logic::Network& network, std::size_t first, std::size_t layers,
                const std::vector<SharedLeaf>& leaves)
      : network_(network), first_(first), leaves_(leaves) {
    for (std::size_t i = 0; i < layers; ++i) {
      tables_.push_back(network.hard_tables_of(first + i));
      kernel_leaves_ *= wiring(i).arity();
    }
  }

  SharedKernel kernel(std::int64_t channel) const {
    SharedKernel result;
    result.function.inputs = numbered("x", kernel_leaves_);
    result.function.outputs = {"y"};
    result.function.output_nets = {add(tables_.size() - 1, channel, result)};
    result.function = checked(std::move(result.function));
    return result;
  }

 private:
  const logic::Wiring& wiring(std::size_t level) const {
    return *network_.layers()[first_ + level].wiring;
  }

  /// Adds a gate with all that it depends on.
  Net add(std::size_t level, std::int64_t table, SharedKernel& kernel) const {
    const logic::Wiring& own = wiring(level);
    NetlistGate gate{.arity = static_cast<std::uint8_t>(own.arity())};
    for (int slot = 0; slot < own.arity(); ++slot) {
      Net& input = gate.inputs[index(slot)];
      if (level > 0) {
        const std::int64_t source = own.source(table * own.positions(), slot);
        input = add(level - 1, source / own.positions(), kernel);
      } else {
        input = kernel.function.input(kernel.leaves.size());
        kernel.leaves.push_back(leaves_[index(table * own.arity() + slot)]);
      }
    }
    const std::size_t entries = std::size_t{1} << own.arity();
    const auto bits =
        tables_[level].values<std::uint8_t>().subspan(index(table) * entries, entries);
    for (std::size_t e = 0; e < entries; ++e) gate.truth |= std::uint64_t{bits[e]} << e;
    kernel.function.gates.push_back(gate);
    return kernel.function.gate(kernel.function.gates.size() - 1);
  }

  const logic::Network& network_;
  std::size_t first_;
  const std::vector<SharedLeaf>& leaves_;
  std::vector<Tensor> tables_;
  std::int64_t kernel_leaves_ = 1;
};

/// A stage and the number of its layers.
struct FoundStage {
  SharedStage stage;
  std::size_t layers = 0;
};

std::optional<FoundStage> convolution_at(const logic::Network& network, std::size_t first,
                                         std::int64_t channel_bits) {
  const auto& layers = network.layers();
  const logic::Wiring& wiring = *layers[first].wiring;
  if (wiring.pools() || wiring.positions() == 1) return std::nullopt;
  std::optional<Grid> grid = grid_of(LeafSources(wiring, wiring.positions()), channel_bits);
  if (!grid) return std::nullopt;
  std::size_t last = first;
  while (last + 1 < layers.size() &&
         continues_trees(*layers[last].wiring, *layers[last + 1].wiring)) {
    ++last;
  }
  FoundStage result{std::move(grid->stage), last - first + 1};
  const KernelBuilder builder(network, first, result.layers, grid->leaves);
  result.stage.channels = layers[last].wiring->tables();
  for (std::int64_t channel = 0; channel < result.stage.channels; ++channel) {
    result.stage.kernels.push_back(builder.kernel(channel));
  }
  return result;
}

std::optional<FoundStage> pooling_at(const logic::Network& network, std::size_t layer,
                                     std::int64_t channels, std::int64_t channel_bits) {
  const logic::Wiring& wiring = *network.layers()[layer].wiring;
  if (!wiring.pools() || wiring.gates() % channels != 0) return std::nullopt;
  std::optional<Grid> grid = grid_of(LeafSources(wiring, wiring.gates() / channels), channel_bits);
  if (!grid) return std::nullopt;
  FoundStage result{std::move(grid->stage), 1};
  result.stage.channels = channels;
  const auto inputs = static_cast<std::int64_t>(wiring.arity());
  result.stage.pooled.assign(grid->leaves.begin(), grid->leaves.begin() + inputs);
  for (std::size_t i = 0; i < grid->leaves.size(); ++i) {
    SharedLeaf same = result.stage.pooled[i % index(inputs)];
    same.channel = static_cast<std::int64_t>(i) / inputs;
    if (grid->leaves[i] != same) return std::nullopt;
  }
  return result;
}

/// The layers from `first` on.
Netlist rest_of(const logic::Network& network, std::size_t first, std::int64_t inputs) {
  Netlist netlist;
  netlist.inputs = numbered("x", inputs);
  std::vector<logic::Signal> signals(index(inputs));
  std::iota(signals.begin(), signals.end(), logic::Signal{0});
  NetlistSink sink(netlist);
  netlist.output_nets = emit_layers(network, first, std::move(signals), sink);
  netlist.outputs = numbered("y", std::ssize(netlist.output_nets));
  return checked(std::move(netlist));
}

/// Removes the leaves that the function does not read, but for one.
SharedKernel without_unused_leaves(const SharedKernel& kernel) {
  const Netlist& function = kernel.function;
  std::vector<bool> is_read(function.inputs.size(), false);
  const auto read = [&](Net net) {
    if (function.is_input(net)) is_read[net] = true;
  };
  for (const NetlistGate& gate : function.gates) std::ranges::for_each(gate.sources(), read);
  std::ranges::for_each(function.output_nets, read);
  if (std::ranges::count(is_read, true) == 0) is_read[0] = true;
  SharedKernel result;
  result.function = function;
  result.function.inputs.clear();
  std::vector<Net> moved;
  for (std::size_t i = 0; i < is_read.size(); ++i) {
    moved.push_back(static_cast<Net>(result.leaves.size()));
    if (!is_read[i]) continue;
    result.leaves.push_back(kernel.leaves[i]);
    result.function.inputs.push_back(function.inputs[i]);
  }
  for (std::size_t g = 0; g < function.gates.size(); ++g) moved.push_back(result.function.gate(g));
  const auto move = [&](Net& net) { net = moved[net]; };
  for (NetlistGate& gate : result.function.gates) {
    std::ranges::for_each(std::span(gate.inputs).first(gate.arity), move);
  }
  std::ranges::for_each(result.function.output_nets, move);
  result.function = checked(std::move(result.function));
  return result;
}

using Signals = std::vector<logic::Signal>;

/// Adds the gates of a netlist and returns its outputs.
Signals copied(const Netlist& netlist, Signals nets, logic::GateSink& sink) {
  Signals inputs;
  for (const NetlistGate& gate : netlist.gates) {
    inputs.clear();
    for (const Net net : gate.sources()) inputs.push_back(nets[net]);
    nets.push_back(sink.gate(inputs, gate.truth));
  }
  Signals outputs;
  for (const Net net : netlist.output_nets) outputs.push_back(nets[net]);
  return outputs;
}

/// Adds the gates of a stage at all positions and returns its outputs.
Signals copied(const SharedStage& stage, std::int64_t channel_bits, const Signals& bits,
               logic::GateSink& sink) {
  constexpr std::uint64_t either = 0b1110;
  Signals outputs;
  for (std::int64_t channel = 0; channel < stage.channels; ++channel) {
    const std::vector<SharedLeaf>& leaves =
        stage.pools() ? stage.pooled : stage.kernels[index(channel)].leaves;
    const std::int64_t first_channel = stage.pools() ? channel : 0;
    for (std::int64_t p = 0; p < stage.positions(); ++p) {
      Signals read;
      for (const SharedLeaf& leaf : leaves) {
        const auto source = stage.source(leaf, p / stage.columns, p % stage.columns);
        read.push_back(source ? bits[index((first_channel + leaf.channel) * channel_bits + *source)]
                              : sink.constant(false));
      }
      if (stage.pools()) {
        logic::Signal any = read[0];
        for (std::size_t i = 1; i < read.size(); ++i) {
          any = sink.gate(std::array{any, read[i]}, either);
        }
        outputs.push_back(any);
      } else {
        outputs.push_back(copied(stage.kernels[index(channel)].function, read, sink)[0]);
      }
    }
  }
  return outputs;
}

}  // namespace

std::optional<std::int64_t> SharedStage::source(const SharedLeaf& leaf, std::int64_t row,
                                                std::int64_t column) const {
  if (!leaf.rows.contains(row) || !leaf.columns.contains(column)) return std::nullopt;
  return leaf.origin + row * row_step + column * column_step;
}

std::int64_t SharedCircuit::channel_bits(std::size_t stage) const {
  return stage == 0 ? std::ssize(inputs) : stages[stage - 1].positions();
}

std::vector<std::int64_t> SharedCircuit::kernel_counts() const {
  std::vector<std::int64_t> counts;
  for (const SharedStage& stage : stages) {
    if (!stage.pools()) counts.push_back(stage.channels);
  }
  return counts;
}

std::int64_t SharedCircuit::written_gates() const {
  std::int64_t gates = gate_count(rest);
  for (const SharedStage& stage : stages) {
    for (const SharedKernel& kernel : stage.kernels) gates += gate_count(kernel.function);
  }
  return gates;
}

std::optional<SharedCircuit> shared_circuit_of(const logic::Network& network) {
  SharedCircuit circuit;
  circuit.name = "circuit";
  circuit.inputs = numbered("x", network.inputs());
  for (std::int64_t i = 0; i < network.inputs(); ++i) {
    if (network.input_mask().at(i) < 0.5) circuit.masked_inputs.push_back(index(i));
  }
  std::size_t layer = 0;
  while (layer < network.layers().size()) {
    const std::int64_t bits = circuit.channel_bits(circuit.stages.size());
    std::optional<FoundStage> found = convolution_at(network, layer, bits);
    if (!found && !circuit.stages.empty()) {
      found = pooling_at(network, layer, circuit.stages.back().channels, bits);
    }
    if (!found) break;
    layer += found->layers;
    circuit.stages.push_back(std::move(found->stage));
  }
  if (circuit.stages.empty()) return std::nullopt;
  circuit.rest = rest_of(network, layer, circuit.stages.back().bits());
  return circuit;
}

SharedCircuit simplified(const SharedCircuit& circuit) {
  SharedCircuit result = circuit;
  for (SharedStage& stage : result.stages) {
    for (SharedKernel& kernel : stage.kernels) {
      kernel.function = simplify(kernel.function);
      kernel = without_unused_leaves(kernel);
    }
  }
  result.rest = simplify(result.rest);
  return result;
}

Netlist flattened(const SharedCircuit& circuit) {
  Netlist names;
  names.name = circuit.name;
  names.inputs = circuit.inputs;
  names.outputs = circuit.rest.outputs;
  NetlistBuilder builder(names);
  FoldingNetlistSink sink(builder);
  Signals bits;
  for (std::size_t i = 0; i < circuit.inputs.size(); ++i) bits.push_back(builder.input(i).code());
  for (const std::size_t i : circuit.masked_inputs) bits[i] = sink.constant(false);
  for (std::size_t i = 0; i < circuit.stages.size(); ++i) {
    bits = copied(circuit.stages[i], circuit.channel_bits(i), bits, sink);
  }
  std::vector<BitLiteral> outputs;
  for (const logic::Signal output : copied(circuit.rest, std::move(bits), sink)) {
    outputs.push_back(BitLiteral::from_code(output));
  }
  return builder.finish(outputs);
}

}  // namespace boolgrad::circuit
